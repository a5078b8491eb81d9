/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_db.h - opens a store in an SQLite file, creates and checks its tables, and runs prepared statements.
 *
 * A failure is sticky: statements do nothing until sqlite_status reports and clears it. A store is used by one thread
 * at a time. Values are bound, never inserted into the text of a statement; bound texts must be valid until the next
 * use of the statement.
 *
 *	sqlite_run(s, SQL_ADD_NAME, SQL_ID(id), SQL_TEXT_OF(name));
 *	sqlite3_stmt *row = sqlite_start(s, SQL_FIND_STACK, SQL_ID(id));
 *	while (sqlite_next(s, row)) ... sqlite3_column_int64(row, 0) ...
 *	return sqlite_status(s, err);
 */
#ifndef STORE_SQLITE_DB_H
#define STORE_SQLITE_DB_H

#include <sqlite3.h>

#include "base/map_u64.h"
#include "base/text.h"
#include "store/sqlite_statements.h"
#include "store/store_backend.h"

#define SQL_SCHEMA_VERSION 1

struct sqlite_store {
	sqlite3 *db;
	char *path;
	uint8_t id[STORE_ID_BYTES];
	bool may_write;
	sqlite3_stmt *statements[SQL_STATEMENTS];
	bool failed;
	struct tally_error error; /* The first failure; valid if failed is true. */
	/* Caches of rows by content ID, see sqlite_insert.c. */
	struct map_u64 stacks, locations, threads, others;
	int64_t data_version; /* PRAGMA data_version at which the caches are valid. */
	uint64_t swept_ns; /* Start of the oldest window when unused rows were removed last. */
	VEC(uint64_t) list; /* Buffer for the locations of a stack. */
	struct text text; /* Buffer for their encoded form in the table. */
};

struct sqlite_value {
	enum { SQL_IS_NUMBER, SQL_IS_TEXT, SQL_IS_BYTES } kind;
	int64_t number;
	struct tally_str text;
};
#define SQL_ID(value)		((struct sqlite_value){SQL_IS_NUMBER, (int64_t)(value), {NULL, 0}})
#define SQL_TEXT_OF(value)	((struct sqlite_value){SQL_IS_TEXT, 0, (value)})
#define SQL_BYTES_OF(data, len) ((struct sqlite_value){SQL_IS_BYTES, 0, {(const char *)(data), (len)}})

/* Opens a store and sets *db to a struct sqlite_store. Fails if path is no file, or the file is no store or damaged. */
enum tally_status sqlite_db_open(const char *path, bool may_write, void **db, struct tally_error *err);
void sqlite_db_close(void *db);

/* Starts a statement with values for its parameters; returns NULL after a failure, now or before. */
sqlite3_stmt *sqlite_start_with(
	struct sqlite_store *s, enum sqlite_statement which, const struct sqlite_value *values, size_t count);
#define SQL_VALUES(...)                               \
	((const struct sqlite_value[]){__VA_ARGS__}), \
		sizeof((const struct sqlite_value[]){__VA_ARGS__}) / sizeof(struct sqlite_value)
#define sqlite_start(s, which, ...) sqlite_start_with((s), (which), SQL_VALUES(__VA_ARGS__))
/* Returns whether there is another row; statement may be NULL. */
bool sqlite_next(struct sqlite_store *s, sqlite3_stmt *statement);
/* Ends a statement before all rows were read. */
void sqlite_end(sqlite3_stmt *statement);
#define sqlite_run(s, which, ...) ((void)sqlite_next((s), sqlite_start((s), (which), __VA_ARGS__)))
/* Runs a statement without parameters. */
void sqlite_run_plain(struct sqlite_store *s, enum sqlite_statement which);
/* Runs SQL text, which must not come from a user. */
void sqlite_execute(struct sqlite_store *s, const char *sql);
/* Runs a statement without parameters, and returns the first column of its first row; 0 if there is no row. */
int64_t sqlite_number(struct sqlite_store *s, enum sqlite_statement which);
/* Returns the text of a column, empty if it is NULL. It is valid until the next step of the statement. */
struct tally_str sqlite_text(sqlite3_stmt *row, int column);
/* Sets the failure to the message of the database, with a remedy. */
void sqlite_fail(struct sqlite_store *s);
void sqlite_fail_with(struct sqlite_store *s, const struct tally_error *error);
void sqlite_fail_nomem(struct sqlite_store *s);
/* Returns and clears the failure. */
enum tally_status sqlite_status(struct sqlite_store *s, struct tally_error *err);

#endif
