/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickhouse_client.h - runs statements on a ClickHouse server through its HTTP interface, with rows in RowBinary.
 *
 * The address of a database is //[user[:password]@]host[:port]/database[?tls=1]; the port is 8123, or 8443 with tls=1.
 * If the address has no password, that of the environment variable CLICKHOUSE_PASSWORD is used. Statements consist only
 * of constants and numbers; texts are sent as RowBinary. A client is used by one thread at a time. Answers of the
 * server are not trusted: their size is bounded and rows are read by a cursor.
 *
 * Errors: TALLY_IO if the server does not answer; TALLY_INVALID with the message of the server if it refuses a
 * statement; TALLY_LIMIT if it did not complete a statement before the deadline.
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
/* Returns the name of the database, which is a valid identifier. */
const char *clickhouse_client_database(const struct clickhouse_client *client);

/* Sets the time, by clock_ns, at which the server ends the following statements, which then return TALLY_LIMIT; 0 sets
 * no limit. */
void clickhouse_client_set_deadline(struct clickhouse_client *client, uint64_t deadline_ns);

/* Runs a statement without a result. in_database is false for a statement that the database need not exist for. */
TALLY_MUST_CHECK enum tally_status clickhouse_client_run(
	struct clickhouse_client *client, struct tally_str statement, bool in_database, struct tally_error *err);
/* Runs a query, which has no FORMAT clause, and appends the rows of the result to answer. */
TALLY_MUST_CHECK enum tally_status clickhouse_client_ask(
	struct clickhouse_client *client, struct tally_str statement, struct text *answer, struct tally_error *err);
/* Inserts rows; the statement names the table and its columns: "INSERT INTO t (a, b)". */
TALLY_MUST_CHECK enum tally_status clickhouse_client_insert(
	struct clickhouse_client *client, const char *statement, const struct text *rows, struct tally_error *err);

/* Append values in RowBinary: integers are little-endian; texts and arrays follow their length as a varint. */
void row_put_u8(struct text *row, uint8_t value);
void row_put_u32(struct text *row, uint32_t value);
void row_put_u64(struct text *row, uint64_t value);
void row_put_count(struct text *row, uint64_t count);
void row_put_text(struct text *row, struct tally_str value);

/* Returns a cursor at the first row. It, and the texts that are read by it, are valid as long as answer. */
struct cursor row_cursor(const struct text *answer);
/* Reads a varint. */
uint64_t row_get_count(struct cursor *c);
/* Reads a text, which is borrowed from the answer. */
struct tally_str row_get_text(struct cursor *c);

#endif
