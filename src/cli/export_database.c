#include "cli/export_database.h"

#include "base/error.h"
#include "tally_config.h"

#if HAVE_SQLITE

#include <sqlite3.h>
#include <stdlib.h>

#include "view/export/export_sqlite.h"
#include "view/export/query_rows.h"

static enum tally_status database_error(sqlite3 *db, const char *what, struct tally_error *err)
{
	return error_set(err, TALLY_INVALID, "%s: %s", what, db ? sqlite3_errmsg(db) : "out of memory");
}

enum tally_status export_database_write(const char *path, const struct export_view *view, struct tally_error *err)
{
	sqlite3 *db = NULL;
	enum tally_status status = sqlite3_open(path, &db) == SQLITE_OK ? export_sqlite_fill(db, view, err)
									: database_error(db, path, err);
	(void)sqlite3_close(db);
	return status;
}

/* A query looks at what is there: nothing is changed, no other file is opened, no code is loaded. */
static int only_reading(
	void *unused, int action, const char *first, const char *second, const char *database, const char *inner)
{
	bool is_loading = action == SQLITE_FUNCTION && second && sqlite3_stricmp(second, "load_extension") == 0;
	bool is_reading = action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
			  action == SQLITE_RECURSIVE;
	return is_reading && !is_loading ? SQLITE_OK : SQLITE_DENY;
}

static enum tally_status run_query(
	sqlite3 *db, const struct query *query, struct byte_sink *sink, struct tally_error *err)
{
	sqlite3_stmt *statement = NULL;
	const char *rest = "";
	(void)sqlite3_set_authorizer(db, only_reading, NULL);
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
		status = error_set(err, TALLY_INVALID, "one statement at a time, not also '%.40s'", rest);
	else if (!query_rows_write(statement,
			 query->form == QUERY_CSV    ? QUERY_ROWS_CSV
			 : query->form == QUERY_JSON ? QUERY_ROWS_JSON
						     : QUERY_ROWS_TABLE,
			 sink))
		status = database_error(db, "query", err);
	(void)sqlite3_finalize(statement);
	return status;
}

enum tally_status export_database_query(const struct query *query, struct byte_sink *sink, struct tally_error *err)
{
	sqlite3 *db = NULL;
	enum tally_status status = TALLY_OK;
	/* No name: a file of its own that goes with it, and is in memory while it is small. */
	int opened =
		query->view ? sqlite3_open("", &db) : sqlite3_open_v2(query->path, &db, SQLITE_OPEN_READONLY, NULL);
	if (opened != SQLITE_OK)
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
