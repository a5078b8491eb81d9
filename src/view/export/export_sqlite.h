/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_sqlite.h - writes a view into the tables of a SQLite database; docs/exports.md has the schema.
 *
 * The caller owns the database, which must be empty; it is written in one transaction. The function exists only in
 * builds with SQLite (HAVE_SQLITE).
 *
 *	sqlite3_open("out.db", &db);
 *	status = export_sqlite_fill(db, &view, err);
 */
#ifndef VIEW_EXPORT_EXPORT_SQLITE_H
#define VIEW_EXPORT_EXPORT_SQLITE_H

#include "view/export/export_view.h"

#define EXPORT_SQLITE_VERSION "1" /* Version of the schema, stored in the table "about". */

struct sqlite3;
TALLY_MUST_CHECK enum tally_status export_sqlite_fill(
	struct sqlite3 *db, const struct export_view *view, struct tally_error *err);

#endif
