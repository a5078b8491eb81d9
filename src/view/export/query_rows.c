/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/query_rows.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "view/table/cells_fit.h"

struct query_rows {
	struct cells table;
	struct cell_column *columns;
	struct cell *row;
	struct json json;
	struct cells_fit fit; /* Only for QUERY_ROWS_TABLE. */
};

static struct cell query_rows_cell(sqlite3_stmt *statement, int column, bool is_json)
{
	const char *data = (const char *)sqlite3_column_text(statement, column);
	struct tally_str s = {data ? data : "", (size_t)sqlite3_column_bytes(statement, column)};
	int type = sqlite3_column_type(statement, column);
	/* JSON cannot represent infinity, which SQLite writes as "Inf". */
	bool is_finite = type != SQLITE_FLOAT || !memchr(s.data, 'n', s.len);
	if (is_json && (type == SQLITE_NULL || !is_finite))
		return cell_digits(STR("null"));
	if (type == SQLITE_NULL)
		return cell_name(NULL);
	return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? cell_digits(s) : cell_text(s);
}

static bool query_rows_begin(struct query_rows *q, sqlite3_stmt *statement, enum query_rows_form form)
{
	size_t count = (size_t)sqlite3_column_count(statement);
	struct text *out = q->table.out;
	q->columns = calloc(count + 1, sizeof(*q->columns));
	q->row = calloc(count + 1, sizeof(*q->row));
	if (!q->columns || !q->row)
		return false;
	for (size_t i = 0; i < count; i++)
		q->columns[i].heading = q->columns[i].key = sqlite3_column_name(statement, (int)i);
	q->table.columns = q->columns;
	q->table.count = count;
	if (form == QUERY_ROWS_TABLE)
		return cells_fit_init(&q->fit, &q->table);
	if (form == QUERY_ROWS_JSON) {
		q->json = (struct json){.out = out, .is_compact = true, .colon = ":", .comma = ","};
		q->table.json = &q->json;
		text_char(out, '[');
	} else {
		q->table.separator = ",";
		q->table.is_quoted = true;
		cells_head(&q->table);
	}
	return true;
}

static void query_rows_put(struct query_rows *q, bool is_first)
{
	struct text *out = q->table.out;
	if (!q->table.json && !q->table.separator) {
		cells_fit_row(&q->fit, q->row);
		return;
	}
	if (q->table.json)
		text_str(out, is_first ? "\n" : ",\n");
	cells_row(&q->table, q->row);
	if (q->table.json && out->len > 0)
		out->len--; /* The comma of the next row comes before the newline. */
}

bool query_rows_write(sqlite3_stmt *statement, enum query_rows_form form, struct byte_sink *sink)
{
	struct query_rows q = {.table.out = &sink->text};
	int status = SQLITE_DONE;
	bool is_first = true;
	sink->failed |= !query_rows_begin(&q, statement, form);
	while (!byte_sink_is_lost(sink) && (status = sqlite3_step(statement)) == SQLITE_ROW) {
		for (size_t i = 0; i < q.table.count; i++)
			q.row[i] = query_rows_cell(statement, (int)i, q.table.json);
		query_rows_put(&q, is_first);
		is_first = false;
		byte_sink_step(sink);
	}
	if (form == QUERY_ROWS_TABLE && !byte_sink_is_lost(sink))
		cells_fit_finish(&q.fit);
	if (form == QUERY_ROWS_JSON)
		text_str(&sink->text, "\n]\n");
	if (form == QUERY_ROWS_TABLE)
		cells_fit_deinit(&q.fit);
	free(q.columns);
	free(q.row);
	return status == SQLITE_DONE || byte_sink_is_lost(sink);
}
