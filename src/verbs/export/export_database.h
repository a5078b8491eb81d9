/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_database.h - fills a SQLite database from a recording, or opens an exported one, for export and query.
 *
 * In a build without SQLite, both functions return an error.
 */
#ifndef VERBS_EXPORT_EXPORT_DATABASE_H
#define VERBS_EXPORT_EXPORT_DATABASE_H

#include "base/byte_sink.h"
#include "view/export/export_view.h"

/* Writes the database to path, which must be an empty file. */
TALLY_MUST_CHECK enum tally_status export_database_write(
	const char *path, const struct export_view *view, struct tally_error *err);

enum query_form { QUERY_TABLE, QUERY_CSV, QUERY_JSON };
struct query {
	const char *sql; /* A single statement, which may only read. */
	enum query_form form;
	const struct export_view *view; /* The recording to query; NULL to query the database at path. */
	const char *path;
	uint64_t timeout_s; /* 0 for no timeout. */
};
TALLY_MUST_CHECK enum tally_status export_database_query(
	const struct query *query, struct byte_sink *sink, struct tally_error *err);

#endif
