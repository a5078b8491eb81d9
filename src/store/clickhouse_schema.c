/* SPDX-License-Identifier: Apache-2.0 */
#include "store/clickhouse_schema.h"

#include <stdio.h>
#include <sys/random.h>

#include "base/error.h"
#include "store/clickhouse_schema_sql.h"

#define CLICKHOUSE_SCHEMA_VERSION "1"
#define CLICKHOUSE_TRIES	  3

/* Cuts off the text up to a line that ends in a semicolon; the server itself skips comments. */
static bool clickhouse_next_statement(struct tally_str *rest, struct tally_str *statement)
{
	static const char end[] = ";\n";
	const char *at = rest->len ? memmem(rest->data, rest->len, end, sizeof(end) - 1) : NULL;
	if (!at)
		return false;
	*statement = (struct tally_str){rest->data, (size_t)(at - rest->data)};
	rest->data = at + sizeof(end) - 1;
	rest->len -= statement->len + sizeof(end) - 1;
	return true;
}

static enum tally_status clickhouse_make_database(struct clickhouse_client *client, struct tally_error *err)
{
	char statement[128];
	snprintf(statement, sizeof(statement), "CREATE DATABASE IF NOT EXISTS %s", clickhouse_client_database(client));
	enum tally_status status = clickhouse_client_run(client, str_from(statement), false, err);
	struct tally_str rest = {clickhouse_schema_sql, sizeof(clickhouse_schema_sql) - 1}, table;
	while (status == TALLY_OK && clickhouse_next_statement(&rest, &table))
		status = clickhouse_client_run(client, table, true, err);
	return status;
}

/* The smallest of several IDs is valid: two servers may have created the store at the same time. */
static enum tally_status clickhouse_read_about(
	struct clickhouse_client *client, uint8_t id[STORE_ID_BYTES], bool *is_there, struct tally_error *err)
{
	struct text answer = {0};
	enum tally_status status = clickhouse_client_ask(client,
		STR("SELECT minIf(value, name = 'id'), maxIf(value, name = 'schema') FROM about"), &answer, err);
	struct cursor c = row_cursor(&answer);
	struct tally_str value = row_get_text(&c), version = row_get_text(&c);
	*is_there = !c.failed && version.len > 0;
	if (status == TALLY_OK && *is_there && !str_equal(version, STR(CLICKHOUSE_SCHEMA_VERSION)))
		status = error_set(err, TALLY_UNSUPPORTED,
			"the ClickHouse database '%s' has version %.*s of the tables, and this tally knows version %s; "
			"use the version of tally that wrote it, or a newer one",
			clickhouse_client_database(client), (int)version.len, version.data, CLICKHOUSE_SCHEMA_VERSION);
	if (status == TALLY_OK && *is_there && value.len != STORE_ID_BYTES)
		status = error_set(err, TALLY_CORRUPT,
			"the table 'about' of the ClickHouse database '%s' has no ID of the store",
			clickhouse_client_database(client));
	if (status == TALLY_OK && *is_there)
		memcpy(id, value.data, STORE_ID_BYTES);
	text_deinit(&answer);
	return status;
}

static enum tally_status clickhouse_write_about(struct clickhouse_client *client, struct tally_error *err)
{
	char id[STORE_ID_BYTES];
	if (getrandom(id, sizeof(id), 0) != (ssize_t)sizeof(id))
		return error_set(err, TALLY_IO, "cannot get random bytes for the ID of the store");
	struct text rows = {0};
	row_put_text(&rows, STR("id"));
	row_put_text(&rows, (struct tally_str){id, sizeof(id)});
	row_put_text(&rows, STR("schema"));
	row_put_text(&rows, STR(CLICKHOUSE_SCHEMA_VERSION));
	enum tally_status status = clickhouse_client_insert(client, "INSERT INTO about (name, value)", &rows, err);
	text_deinit(&rows);
	return status;
}

enum tally_status clickhouse_schema_make(
	struct clickhouse_client *client, bool may_write, uint8_t id[STORE_ID_BYTES], struct tally_error *err)
{
	bool is_there = false;
	enum tally_status status = may_write ? clickhouse_make_database(client, err) : TALLY_OK;
	for (int i = 0; i < CLICKHOUSE_TRIES && status == TALLY_OK && !is_there; i++) {
		status = clickhouse_read_about(client, id, &is_there, err);
		if (status == TALLY_OK && !is_there && may_write)
			status = clickhouse_write_about(client, err);
	}
	if (status == TALLY_OK && !is_there)
		status = error_set(err, TALLY_NOT_FOUND,
			"the ClickHouse database '%s' is not a store: tally serve or tally push make one",
			clickhouse_client_database(client));
	return status;
}
