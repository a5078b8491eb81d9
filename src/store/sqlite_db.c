/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_db.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

#define SQL_APPLICATION_ID 1953262713 /* "tlly" in ASCII. */
#define SQL_BUSY_MS	   10000
#define SQL_VALUE_BYTES	   (64 << 20) /* Maximum length of a text; those of a batch are shorter. */

static enum tally_status sqlite_db_status_of(int code)
{
	switch (code & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return TALLY_CORRUPT;
	case SQLITE_NOMEM:
		return TALLY_NOMEM;
	case SQLITE_PERM:
	case SQLITE_AUTH:
	case SQLITE_READONLY:
		return TALLY_DENIED;
	default:
		return TALLY_IO;
	}
}

static const char *sqlite_db_advice(int code)
{
	switch (code & 0xff) {
	case SQLITE_NOTADB:
		return "; name another file for the store";
	case SQLITE_CORRUPT:
		return "; move the file away, and recover what is readable with 'sqlite3 FILE .recover'";
	case SQLITE_FULL:
		return "; free space on its disk, or keep less (--retain, --max-bytes)";
	case SQLITE_BUSY:
		return "; another process has been writing to it for 10 seconds";
	default:
		return "";
	}
}

void sqlite_fail_with(struct sqlite_store *s, const struct tally_error *error)
{
	if (!s->failed)
		s->error = *error;
	s->failed = true;
}

void sqlite_fail_nomem(struct sqlite_store *s)
{
	struct tally_error error;
	(void)error_nomem(&error);
	sqlite_fail_with(s, &error);
}

void sqlite_fail(struct sqlite_store *s)
{
	int code = s->db ? sqlite3_extended_errcode(s->db) : SQLITE_NOMEM;
	int errnum = s->db ? sqlite3_system_errno(s->db) : 0;
	struct tally_error error;
	char buffer[128];
	if (code == SQLITE_NOMEM) {
		sqlite_fail_nomem(s);
		return;
	}
	bool is_system = errnum != 0 && ((code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_IOERR);
	(void)error_set(&error, sqlite_db_status_of(code), "the store '%s': %s%s%s%s", s->path, sqlite3_errmsg(s->db),
		is_system ? ": " : "", is_system ? error_describe(errnum, buffer, sizeof(buffer)) : "",
		sqlite_db_advice(code));
	sqlite_fail_with(s, &error);
}

enum tally_status sqlite_status(struct sqlite_store *s, struct tally_error *err)
{
	if (!s->failed)
		return TALLY_OK;
	s->failed = false;
	if (err)
		*err = s->error;
	return s->error.status;
}

static int sqlite_db_bind(sqlite3_stmt *statement, int column, const struct sqlite_value *value)
{
	const char *data = value->text.data ? value->text.data : "";
	switch (value->kind) {
	case SQL_IS_TEXT:
		return sqlite3_bind_text64(statement, column, data, value->text.len, SQLITE_STATIC, SQLITE_UTF8);
	case SQL_IS_BYTES:
		return sqlite3_bind_blob64(statement, column, data, value->text.len, SQLITE_STATIC);
	case SQL_IS_NUMBER:
	default:
		return sqlite3_bind_int64(statement, column, value->number);
	}
}

sqlite3_stmt *sqlite_start_with(
	struct sqlite_store *s, enum sqlite_statement which, const struct sqlite_value *values, size_t count)
{
	sqlite3_stmt **statement = &s->statements[which];
	if (s->failed)
		return NULL;
	if (!*statement && sqlite3_prepare_v3(s->db, sqlite_statement_text(which), -1, SQLITE_PREPARE_PERSISTENT,
				   statement, NULL) != SQLITE_OK) {
		sqlite_fail(s);
		return NULL;
	}
	(void)sqlite3_reset(*statement);
	for (size_t i = 0; i < count; i++) {
		if (sqlite_db_bind(*statement, (int)i + 1, &values[i]) != SQLITE_OK) {
			sqlite_fail(s);
			return NULL;
		}
	}
	return *statement;
}

bool sqlite_next(struct sqlite_store *s, sqlite3_stmt *statement)
{
	if (s->failed || !statement)
		return false;
	int code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		return true;
	if (code != SQLITE_DONE)
		sqlite_fail(s);
	(void)sqlite3_reset(statement);
	return false;
}

void sqlite_end(sqlite3_stmt *statement)
{
	if (statement)
		(void)sqlite3_reset(statement);
}

void sqlite_execute(struct sqlite_store *s, const char *sql)
{
	if (!s->failed && sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		sqlite_fail(s);
}

void sqlite_run_plain(struct sqlite_store *s, enum sqlite_statement which)
{
	(void)sqlite_next(s, sqlite_start_with(s, which, NULL, 0));
}

int64_t sqlite_number(struct sqlite_store *s, enum sqlite_statement which)
{
	sqlite3_stmt *row = sqlite_start_with(s, which, NULL, 0);
	int64_t number = sqlite_next(s, row) ? sqlite3_column_int64(row, 0) : 0;
	sqlite_end(row);
	return number;
}

struct tally_str sqlite_text(sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);
	return (struct tally_str){text ? text : "", text ? (size_t)sqlite3_column_bytes(row, column) : 0};
}

static void sqlite_db_refuse(struct sqlite_store *s, enum tally_status status, const char *why)
{
	struct tally_error error;
	(void)error_set(&error, status, "the store '%s' %s", s->path, why);
	sqlite_fail_with(s, &error);
}

/* Reads the version and the ID; 0 if the file has no tables. */
static int64_t sqlite_db_version(struct sqlite_store *s)
{
	int64_t version = 0;
	if (sqlite_number(s, SQL_APPLICATION) != SQL_APPLICATION_ID) {
		if (sqlite_number(s, SQL_COUNT_TABLES) > 0)
			sqlite_db_refuse(s, TALLY_CORRUPT,
				"is a database, but not one of tally; name another file for the store");
		return 0;
	}
	sqlite3_stmt *row = sqlite_start_with(s, SQL_GET_STORE, NULL, 0);
	if (sqlite_next(s, row)) {
		version = sqlite3_column_int64(row, 0);
		const void *id = sqlite3_column_blob(row, 1);
		if (id && sqlite3_column_bytes(row, 1) == STORE_ID_BYTES)
			memcpy(s->id, id, STORE_ID_BYTES);
		else
			version = 0;
	}
	sqlite_end(row);
	if (!s->failed && version <= 0)
		sqlite_db_refuse(s, TALLY_CORRUPT,
			"is damaged: its table 'store' has no version and ID; move the file away, and recover what is "
			"readable with 'sqlite3 FILE .recover'");
	return version;
}

static void sqlite_db_check_version(struct sqlite_store *s, int64_t version)
{
	char why[200];
	struct text text = text_over(why, sizeof(why));
	if (s->failed || version == SQL_SCHEMA_VERSION)
		return;
	if (version > SQL_SCHEMA_VERSION)
		text_printf(&text,
			"has tables of version %lld, which a newer tally made; this one knows version %d: use a newer "
			"one",
			(long long)version, SQL_SCHEMA_VERSION);
	else if (!s->may_write && version > 0)
		text_printf(&text,
			"has tables of version %lld, and this tally reads version %d: start 'tally serve' with it once",
			(long long)version, SQL_SCHEMA_VERSION);
	else if (!s->may_write)
		text_printf(&text, "is empty: start 'tally serve' with it, or push to it, before it is asked");
	else
		return;
	text_char(&text, '\0');
	sqlite_db_refuse(s, version == 0 ? TALLY_NOT_FOUND : TALLY_UNSUPPORTED, why);
}

/* Another process may do the same at the same time, so the version is read again when nobody else can write. */
static void sqlite_db_migrate(struct sqlite_store *s)
{
	sqlite_run_plain(s, SQL_BEGIN_WRITING);
	int64_t version = sqlite_db_version(s);
	while (!s->failed && version < SQL_SCHEMA_VERSION)
		sqlite_execute(s, sqlite_migrations[version++]);
	if (s->failed)
		(void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	else
		sqlite_execute(s, "COMMIT");
	(void)sqlite_db_version(s);
}

/* The file may come from anyone, so its schema is not trusted. */
static void sqlite_db_bound(struct sqlite_store *s)
{
	(void)sqlite3_extended_result_codes(s->db, 1);
	(void)sqlite3_busy_timeout(s->db, SQL_BUSY_MS);
	(void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	(void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	(void)sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, SQL_VALUE_BYTES);
	(void)sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite_execute(s, "PRAGMA cell_size_check = ON; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY");
}

static void sqlite_db_prepare(struct sqlite_store *s)
{
	sqlite_db_bound(s);
	/* auto_vacuum, which returns pages to the file system, must be set before there are tables. With WAL, readers
	 * do not wait for the writer. With FULL, an acknowledged batch survives a power failure. */
	if (s->may_write && !s->failed && sqlite_number(s, SQL_PAGES) == 0)
		sqlite_execute(s, "PRAGMA auto_vacuum = INCREMENTAL");
	int64_t version = sqlite_db_version(s);
	sqlite_db_check_version(s, version);
	if (!s->may_write)
		return;
	sqlite_execute(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
	if (version < SQL_SCHEMA_VERSION)
		sqlite_db_migrate(s);
	/* This state was added later; without its name, the views would lack its samples. */
	sqlite_execute(s, "INSERT OR IGNORE INTO states VALUES (11, 'throttled')");
}

/* The path is always that of a file, although ":memory:", "file:x?mode=..." and "" are special names in SQLite. */
static int sqlite_db_open_file(struct sqlite_store *s)
{
	struct text name = {0};
	/* There is one call at a time, so SQLite needs no lock of its own. */
	int flags = SQLITE_OPEN_NOMUTEX;
	flags |= s->may_write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
	text_str(&name, s->path[0] == '/' ? "" : "./");
	text_bytes(&name, s->path, strlen(s->path) + 1);
	/* SQLite would create a file with default permissions; -wal and -shm get the mode of this file. */
	if (s->may_write && !name.failed)
		file_make_private(name.data);
	int code = name.failed ? SQLITE_NOMEM : sqlite3_open_v2(name.data, &s->db, flags, NULL);
	text_deinit(&name);
	return code;
}

void sqlite_db_close(void *db)
{
	struct sqlite_store *s = db;
	if (!s)
		return;
	for (size_t i = 0; i < SQL_STATEMENTS; i++)
		(void)sqlite3_finalize(s->statements[i]);
	(void)sqlite3_close(s->db);
	map_u64_deinit(&s->stacks);
	map_u64_deinit(&s->locations);
	map_u64_deinit(&s->threads);
	map_u64_deinit(&s->others);
	vec_free(&s->list);
	text_deinit(&s->text);
	free(s->path);
	free(s);
}

enum tally_status sqlite_db_open(const char *path, bool may_write, void **db, struct tally_error *err)
{
	if (path[0] == '\0')
		return error_set(
			err, TALLY_INVALID, "'sqlite:' takes a file: for example sqlite:/var/lib/tally/store.db");
	struct sqlite_store *s = calloc(1, sizeof(*s));
	if (s)
		s->path = strdup(path);
	if (!s || !s->path) {
		free(s);
		return error_nomem(err);
	}
	s->may_write = may_write;
	if (sqlite_db_open_file(s) != SQLITE_OK)
		sqlite_fail(s);
	else
		sqlite_db_prepare(s);
	enum tally_status status = sqlite_status(s, err);
	if (status != TALLY_OK) {
		sqlite_db_close(s);
		return status;
	}
	*db = s;
	return TALLY_OK;
}
