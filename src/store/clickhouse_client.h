/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickhouse_client.h - runs statements on a ClickHouse server through its HTTP interface, with rows as RowBinary.
 *
 * The place of a database is //[user[:password]@]host[:port]/database[?tls=1]; the port is 8123, or 8443 with tls=1.
 * Without a password in it, that of the environment variable CLICKHOUSE_PASSWORD is used. Statements are made by our own
 * code of constants and numbers only; texts travel as RowBinary. One thread at a time. What the server answers is not
 * trusted: its size is bounded and rows are read by a cursor.
 *
 * Errors: TALLY_IO if the server does not answer; TALLY_INVALID with the server's own words if it refuses a statement;
 * TALLY_LIMIT if it did not finish one before the deadline.
 *
 *	clickhouse_client_open("//localhost/tally", &client, err);
 *	clickhouse_client_ask(client, STR("SELECT batch FROM batches"), &answer, err);
 */
#ifndef STORE_CLICKHOUSE_CLIENT_H
#define STORE_CLICKHOUSE_CLIENT_H

#include "base/cursor.h"
#include "base/text.h"

struct clickhouse_client;
TALLY_MUST_CHECK enum tally_status clickhouse_client_open(
	const char *place, struct clickhouse_client **client, struct tally_error *err);
void clickhouse_client_close(struct clickhouse_client *client);
/* The name of the database, which is an identifier. */
const char *clickhouse_client_database(const struct clickhouse_client *client);

/* Of the statements that follow: the server ends them then, and they return TALLY_LIMIT. By clock_ns; 0: none. */
void clickhouse_client_set_deadline(struct clickhouse_client *client, uint64_t deadline_ns);

/* A statement without a result; in_database: it needs the database. */
TALLY_MUST_CHECK enum tally_status clickhouse_client_run(
	struct clickhouse_client *client, struct tally_str statement, bool in_database, struct tally_error *err);
/* Appends the result's rows to the answer; the statement has no FORMAT. */
TALLY_MUST_CHECK enum tally_status clickhouse_client_ask(
	struct clickhouse_client *client, struct tally_str statement, struct text *answer, struct tally_error *err);
/* Inserts rows into a table; the statement names it and its columns: "INSERT INTO t (a, b)". */
TALLY_MUST_CHECK enum tally_status clickhouse_client_insert(
	struct clickhouse_client *client, const char *statement, const struct text *rows, struct tally_error *err);

/* RowBinary: integers are little-endian, texts and arrays have a varint in front. */
void row_put_u8(struct text *row, uint8_t value);
void row_put_u32(struct text *row, uint32_t value);
void row_put_u64(struct text *row, uint64_t value);
void row_put_count(struct text *row, uint64_t count);
void row_put_text(struct text *row, struct tally_str value);

struct cursor row_cursor(const struct text *answer);
uint64_t row_get_count(struct cursor *c);
/* Borrowed from the answer. */
struct tally_str row_get_text(struct cursor *c);

#endif
