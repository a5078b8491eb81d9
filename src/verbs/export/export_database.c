/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/export/export_database.h"

#include "base/clock.h"
#include "base/error.h"
#include "tally_config.h"

#if HAVE_SQLITE

#include <sqlite3.h>
#include <stdlib.h>

#include "base/text.h"
#include "view/export/export_sqlite.h"
#include "view/export/query_rows.h"

#define QUERY_MAX_VALUE_BYTES (64 << 20) /* Maximum size of a value that a query makes; names have at most 64 KiB. */
/* Sorting and grouping use temporary files long before they need this much memory. */
#define QUERY_MAX_HEAP_BYTES ((sqlite3_int64)1 << 30)
/* Number of SQLite VM instructions between checks of the time limit, about 0.1 ms. */
#define STEPS_A_LOOK 10000

static enum tally_status database_error(sqlite3 *db, const char *what, struct tally_error *err)
{
	return error_set(err, TALLY_INVALID, "%s: %s", what, db ? sqlite3_errmsg(db) : "out of memory");
}

/* Opens a file of any name. SQLite treats names such as ":memory:", "file:x?mode=..." and "" specially. */
static enum tally_status export_database_open_file(const char *path, int flags, sqlite3 **db, struct tally_error *err)
{
	struct text name = {0};
	text_str(&name, path[0] == '/' ? "" : "./");
	text_bytes(&name, path, strlen(path) + 1);
	enum tally_status status = TALLY_OK;
	if (name.failed)
		status = error_nomem(err);
	else if (sqlite3_open_v2(name.data, db, flags, NULL) != SQLITE_OK)
		status = database_error(*db, path, err);
	text_deinit(&name);
	return status;
}

enum tally_status export_database_write(const char *path, const struct export_view *view, struct tally_error *err)
{
	sqlite3 *db = NULL;
	enum tally_status status =
		export_database_open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &db, err);
	if (status == TALLY_OK)
		status = export_sqlite_fill(db, view, err);
	(void)sqlite3_close(db);
	return status;
}

/* Allows only reading: a query must not change anything, open other files, or load code. To declare the columns of a
 * table-valued function such as json_each, SQLite requests an update of its schema but makes none; it rejects
 * statements that try to update the schema. */
static int only_reading(
	void *unused, int action, const char *first, const char *second, const char *database, const char *inner)
{
	bool is_loading = action == SQLITE_FUNCTION && second && sqlite3_stricmp(second, "load_extension") == 0;
	bool is_reading = action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
			  action == SQLITE_RECURSIVE;
	bool is_declaring = action == SQLITE_UPDATE && sqlite3_stricmp(first, "sqlite_master") == 0;
	return (is_reading && !is_loading) || is_declaring ? SQLITE_OK : SQLITE_DENY;
}

/* Neither the file nor the query is trusted, so functions in the schema's views are restricted and memory is
 * limited. */
static void export_database_bound(sqlite3 *db)
{
	(void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	(void)sqlite3_exec(db, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
	(void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, QUERY_MAX_VALUE_BYTES);
	(void)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	(void)sqlite3_hard_heap_limit64(QUERY_MAX_HEAP_BYTES);
	(void)sqlite3_set_authorizer(db, only_reading, NULL);
}

static int is_too_late(void *end_ms)
{
	return (uint64_t)clock_ms() >= *(const uint64_t *)end_ms;
}

static enum tally_status query_error(sqlite3 *db, const struct query *query, struct tally_error *err)
{
	if (sqlite3_errcode(db) == SQLITE_INTERRUPT)
		return error_set(err, TALLY_INVALID, "query: took longer than --timeout %llu s",
			(unsigned long long)query->timeout_s);
	return database_error(db, "query", err);
}

static enum tally_status run_query(
	sqlite3 *db, const struct query *query, struct byte_sink *sink, struct tally_error *err)
{
	sqlite3_stmt *statement = NULL;
	const char *rest = "";
	uint64_t end_ms = 0;
	export_database_bound(db);
	if (query->timeout_s && !__builtin_mul_overflow(query->timeout_s, 1000, &end_ms) &&
		!__builtin_add_overflow(end_ms, (uint64_t)clock_ms(), &end_ms))
		sqlite3_progress_handler(db, STEPS_A_LOOK, is_too_late, &end_ms);
	if (sqlite3_prepare_v2(db, query->sql, -1, &statement, &rest) != SQLITE_OK)
		return database_error(db, "query", err);
	enum tally_status status = TALLY_OK;
	while (*rest == ' ' || *rest == '\n' || *rest == '\t' || *rest == ';')
		rest++;
	if (!statement)
		status = error_set(err, TALLY_INVALID, "the query is empty");
	else if (!sqlite3_stmt_readonly(statement) || sqlite3_column_count(statement) == 0)
		status = error_set(err, TALLY_INVALID, "a query may only read");
	else if (*rest)
		status = error_set(
			err, TALLY_INVALID, "unexpected '%.40s' after the query: only one statement is run", rest);
	else if (!query_rows_write(statement,
			 query->form == QUERY_CSV    ? QUERY_ROWS_CSV
			 : query->form == QUERY_JSON ? QUERY_ROWS_JSON
						     : QUERY_ROWS_TABLE,
			 sink))
		status = query_error(db, query, err);
	(void)sqlite3_finalize(statement);
	return status;
}

enum tally_status export_database_query(const struct query *query, struct byte_sink *sink, struct tally_error *err)
{
	sqlite3 *db = NULL;
	enum tally_status status = TALLY_OK;
	/* With an empty name, SQLite creates a temporary database, which stays in memory while it is small. */
	if (!query->view)
		status = export_database_open_file(query->path, SQLITE_OPEN_READONLY, &db, err);
	else if (sqlite3_open("", &db) != SQLITE_OK)
		status = database_error(db, query->path, err);
	if (status == TALLY_OK && query->view)
		status = export_sqlite_fill(db, query->view, err);
	if (status == TALLY_OK)
		status = run_query(db, query, sink, err);
	(void)sqlite3_close(db);
	return status;
}

#else

static enum tally_status is_missing(struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "this tally was built without SQLite (libsqlite3)");
}

enum tally_status export_database_write(const char *path, const struct export_view *view, struct tally_error *err)
{
	return is_missing(err);
}

enum tally_status export_database_query(const struct query *query, struct byte_sink *sink, struct tally_error *err)
{
	return is_missing(err);
}

#endif
