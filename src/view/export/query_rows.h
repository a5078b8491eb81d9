/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_rows.h - prints the rows of a prepared SQLite statement as a table, CSV or JSON, as they arrive.
 *
 * Columns of the table are as wide as the first rows need; wider cells in later rows are not truncated (cells_fit.h).
 */
#ifndef VIEW_EXPORT_QUERY_ROWS_H
#define VIEW_EXPORT_QUERY_ROWS_H

#include "base/byte_sink.h"

enum query_rows_form { QUERY_ROWS_TABLE, QUERY_ROWS_CSV, QUERY_ROWS_JSON };

struct sqlite3_stmt;
/* Returns false if the statement failed, with the error in its database, or when out of memory, with sink->failed
 * set. */
TALLY_MUST_CHECK bool query_rows_write(
	struct sqlite3_stmt *statement, enum query_rows_form form, struct byte_sink *sink);

#endif
