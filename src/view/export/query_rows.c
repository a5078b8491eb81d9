/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/query_rows.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "base/vec.h"
#include "view/export/export_view.h"

#define MEASURED_ROWS  200 /* that widths are of */
#define MEASURED_BYTES ((size_t)1 << 20) /* or so much text */
#define GAP	       "  "

struct query_rows_cell {
	size_t end; /* in the texts */
	size_t width;
	bool is_number;
};

struct table {
	struct byte_sink *sink;
	int columns;
	struct text texts; /* of the rows that are measured; the first is the names */
	VEC(struct query_rows_cell) cells;
	size_t *widths;
};

static struct tally_str cell_text(sqlite3_stmt *statement, int column)
{
	const char *data = (const char *)sqlite3_column_text(statement, column);
	return (struct tally_str){data ? data : "", (size_t)sqlite3_column_bytes(statement, column)};
}

static bool query_rows_is_number(sqlite3_stmt *statement, int column)
{
	int type = sqlite3_column_type(statement, column);
	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* Characters of UTF-8, as far as a table needs to know. */
static size_t width_of(const char *s, size_t len)
{
	size_t width = 0;
	for (size_t i = 0; i < len; i++)
		width += ((uint8_t)s[i] & 0xc0) != 0x80;
	return width;
}

static void query_rows_add_cell(struct table *t, struct tally_str s, bool number)
{
	struct query_rows_cell cell = {.is_number = number};
	size_t begin = t->texts.len;
	export_utf8(&t->texts, s);
	for (size_t i = begin; i < t->texts.len; i++)
		if ((uint8_t)t->texts.data[i] < ' ' || t->texts.data[i] == 0x7f)
			t->texts.data[i] = '?';
	cell.end = t->texts.len;
	cell.width = width_of(t->texts.data ? t->texts.data + begin : "", cell.end - begin);
	if (!vec_push(&t->cells, cell))
		t->sink->failed = true;
}

static void put_cells(struct table *t)
{
	struct text *out = &t->sink->text;
	size_t begin = 0;
	for (size_t i = 0; i < t->cells.len; i++) {
		const struct query_rows_cell *cell = &t->cells.items[i];
		size_t column = i % (size_t)t->columns;
		size_t width = t->widths[column];
		size_t pad = width > cell->width ? width - cell->width : 0;
		bool is_last = column + 1 == (size_t)t->columns;
		if (cell->is_number)
			text_repeat(out, ' ', pad);
		text_bytes(out, t->texts.data ? t->texts.data + begin : "", cell->end - begin);
		if (!cell->is_number && !is_last)
			text_repeat(out, ' ', pad);
		text_str(out, is_last ? "\n" : GAP);
		begin = cell->end;
		byte_sink_step(t->sink);
	}
	t->cells.len = 0;
	text_clear(&t->texts);
}

static void query_rows_put_rule(struct table *t)
{
	for (int i = 0; i < t->columns; i++) {
		text_repeat(&t->sink->text, '-', t->widths[i]);
		text_str(&t->sink->text, i + 1 == t->columns ? "\n" : GAP);
	}
}

/* The names and the rows that were measured; numbers' names stand at the right too. */
static void query_rows_put_head(struct table *t)
{
	for (size_t i = 0; i < t->cells.len; i++) {
		size_t column = i % (size_t)t->columns;
		if (t->cells.items[i].width > t->widths[column])
			t->widths[column] = t->cells.items[i].width;
	}
	VEC(struct query_rows_cell) rest = {0};
	struct text texts = t->texts;
	size_t names = (size_t)t->columns;
	for (size_t i = names; i < t->cells.len; i++) {
		struct query_rows_cell cell = t->cells.items[i];
		if (i < 2 * names)
			t->cells.items[i - names].is_number = cell.is_number;
		cell.end -= t->cells.items[names - 1].end;
		if (!vec_push(&rest, cell))
			t->sink->failed = true;
	}
	size_t head_bytes = t->cells.items[names - 1].end, rest_bytes = texts.len - head_bytes;
	char *copy = malloc(rest_bytes + 1);
	if (!copy || t->sink->failed) {
		t->sink->failed = true;
		free(copy);
		vec_free(&rest);
		return;
	}
	memcpy(copy, texts.data + head_bytes, rest_bytes);
	t->cells.len = names;
	put_cells(t);
	query_rows_put_rule(t);
	text_bytes(&t->texts, copy, rest_bytes);
	for (size_t i = 0; i < rest.len; i++)
		if (!vec_push(&t->cells, rest.items[i]))
			t->sink->failed = true;
	put_cells(t);
	free(copy);
	vec_free(&rest);
}

static bool write_table(sqlite3_stmt *statement, struct byte_sink *sink)
{
	struct table t = {.sink = sink, .columns = sqlite3_column_count(statement)};
	t.widths = calloc((size_t)t.columns + 1, sizeof(*t.widths));
	if (!t.widths) {
		sink->failed = true;
		return false;
	}
	for (int i = 0; i < t.columns; i++)
		query_rows_add_cell(&t, str_from(sqlite3_column_name(statement, i)), false);
	int status;
	size_t rows = 0;
	bool has_head = false;
	while ((status = sqlite3_step(statement)) == SQLITE_ROW && !byte_sink_is_lost(sink)) {
		for (int i = 0; i < t.columns; i++)
			query_rows_add_cell(&t, cell_text(statement, i), query_rows_is_number(statement, i));
		if (has_head) {
			put_cells(&t);
		} else if (++rows == MEASURED_ROWS || t.texts.len > MEASURED_BYTES) {
			query_rows_put_head(&t);
			has_head = true;
		}
	}
	if (!has_head && !byte_sink_is_lost(sink))
		query_rows_put_head(&t);
	sink->failed = sink->failed || t.texts.failed;
	text_deinit(&t.texts);
	vec_free(&t.cells);
	free(t.widths);
	return status == SQLITE_DONE || byte_sink_is_lost(sink);
}

static bool write_csv(sqlite3_stmt *statement, struct byte_sink *sink)
{
	struct text *out = &sink->text;
	int columns = sqlite3_column_count(statement), status;
	for (int i = 0; i < columns; i++) {
		if (i)
			text_char(out, ',');
		export_csv_text(out, str_from(sqlite3_column_name(statement, i)));
	}
	text_str(out, "\r\n");
	while ((status = sqlite3_step(statement)) == SQLITE_ROW && !byte_sink_is_lost(sink)) {
		for (int i = 0; i < columns; i++) {
			if (i)
				text_char(out, ',');
			export_csv_text(out, cell_text(statement, i));
		}
		text_str(out, "\r\n");
		byte_sink_step(sink);
	}
	return status == SQLITE_DONE || byte_sink_is_lost(sink);
}

static void put_json_cell(struct text *out, sqlite3_stmt *statement, int column)
{
	struct tally_str s = cell_text(statement, column);
	int type = sqlite3_column_type(statement, column);
	/* Infinity is no JSON. */
	bool is_finite = type != SQLITE_FLOAT || !memchr(s.data, 'n', s.len);
	if (type == SQLITE_NULL || !is_finite)
		text_str(out, "null");
	else if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
		text_bytes(out, s.data, s.len);
	else
		export_json_string(out, s);
}

static bool query_rows_write_json(sqlite3_stmt *statement, struct byte_sink *sink)
{
	struct text *out = &sink->text;
	int columns = sqlite3_column_count(statement), status;
	bool has_row = false;
	text_char(out, '[');
	while ((status = sqlite3_step(statement)) == SQLITE_ROW && !byte_sink_is_lost(sink)) {
		text_str(out, has_row ? ",\n{" : "\n{");
		has_row = true;
		for (int i = 0; i < columns; i++) {
			if (i)
				text_char(out, ',');
			export_json_string(out, str_from(sqlite3_column_name(statement, i)));
			text_char(out, ':');
			put_json_cell(out, statement, i);
		}
		text_char(out, '}');
		byte_sink_step(sink);
	}
	text_str(out, "\n]\n");
	return status == SQLITE_DONE || byte_sink_is_lost(sink);
}

bool query_rows_write(sqlite3_stmt *statement, enum query_rows_form form, struct byte_sink *sink)
{
	switch (form) {
	case QUERY_ROWS_CSV:
		return write_csv(statement, sink);
	case QUERY_ROWS_JSON:
		return query_rows_write_json(statement, sink);
	case QUERY_ROWS_TABLE:
		break;
	}
	return write_table(statement, sink);
}
