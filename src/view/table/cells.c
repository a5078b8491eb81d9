/* SPDX-License-Identifier: Apache-2.0 */
#include "view/table/cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text_cells.h"

#define NS_PER_MS 1e6
#define DOTS	  "..."

static void cells_duration(struct text *out, uint64_t ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{" h ", 3600000000000}, {" m ", 60000000000}, {" s ", 1000000000}, {" ms", 1000000}, {" us", 1000}};
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (ns < units[i].ns)
			continue;
		/* Divides floats, as perf's tables do: 10465 ns are 10.47 us. */
		text_fixed(out, (double)((float)ns / (float)units[i].ns), 2);
		text_str(out, units[i].name);
		return;
	}
	text_u64(out, ns);
	text_str(out, " ns");
}

static void cells_whole(const struct cells *t, const struct cell_column *column, uint64_t value)
{
	switch (column->look) {
	case LOOK_HEX:
		text_str(t->out, "0x");
		text_hex(t->out, value, 0);
		return;
	case LOOK_ADDRESS:
		text_hex(t->out, value, t->separator ? 0 : 16);
		return;
	case LOOK_DURATION:
		if (t->separator)
			break;
		cells_duration(t->out, value);
		return;
	case LOOK_MS:
		if (t->separator)
			break;
		text_fixed(t->out, (double)value / NS_PER_MS, column->decimals);
		return;
	case LOOK_SECONDS:
		if (t->separator)
			break;
		text_printf(t->out, "%" PRIu64 ".%06" PRIu64, value / 1000000000, value / 1000 % 1000000);
		return;
	case LOOK_PLAIN:
	case LOOK_PERCENT:
		break;
	}
	text_u64(t->out, value);
}

static void cells_name(const struct cells *t, const struct cell_column *column, struct tally_str name)
{
	bool is_cut = column->longest > 0 && !t->separator && text_cells(name) > column->longest;
	size_t start = t->out->len;
	if (t->is_quoted) {
		text_csv(t->out, name);
		return;
	}
	if (is_cut)
		name = text_cells_cut(name, column->longest - strlen(DOTS));
	text_bytes(t->out, name.data, name.len);
	text_str(t->out, is_cut ? DOTS : "");
	text_mask_from(t->out, start, column->is_raw ? NULL : t->separator);
	text_visible_from(t->out, start);
}

static void cells_value(const struct cells *t, const struct cell_column *column, const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_IS_ABSENT:
		text_str(t->out, column->absent ? column->absent : "");
		return;
	case CELL_IS_TEXT:
		cells_name(t, column, cell->text);
		return;
	case CELL_IS_DIGITS:
		text_bytes(t->out, cell->text.data, cell->text.len);
		return;
	case CELL_IS_U64:
		cells_whole(t, column, cell->u64);
		break;
	case CELL_IS_I64:
		text_i64(t->out, cell->i64);
		break;
	case CELL_IS_F64:
		text_fixed(t->out, cell->f64, column->decimals);
		break;
	case CELL_IS_BOOL:
		text_str(t->out, cell->truth ? "yes" : "no");
		return;
	}
	if (column->look == LOOK_PERCENT)
		text_char(t->out, '%');
}

static void cells_member(struct json *j, const struct cell_column *column, const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_IS_ABSENT:
		return;
	case CELL_IS_TEXT:
		json_string(j, column->key, cell->text);
		return;
	case CELL_IS_DIGITS:
		json_digits(j, column->key, cell->text);
		return;
	case CELL_IS_U64:
		if (column->look == LOOK_HEX || column->look == LOOK_ADDRESS)
			json_hex(j, column->key, cell->u64);
		else
			json_u64(j, column->key, cell->u64);
		return;
	case CELL_IS_I64:
		json_i64(j, column->key, cell->i64);
		return;
	case CELL_IS_F64:
		if (isfinite(cell->f64))
			json_fixed(j, column->key, cell->f64, column->json_decimals);
		return;
	case CELL_IS_BOOL:
		json_bool(j, column->key, cell->truth);
		return;
	}
}

static size_t cells_index(const struct cells *t, size_t i)
{
	return t->order ? t->order[i] : i;
}

/* Writes what precedes or follows a cell: the column's own blanks, or the separator before all but the first. */
static void cells_around(const struct cells *t, const char *own, bool has_separator)
{
	if (!t->separator)
		text_str(t->out, own ? own : "");
	else if (has_separator)
		text_str(t->out, t->separator), text_str(t->out, t->has_blanks ? " " : "");
}

/* Writes the mark and returns its length; the first column is narrower by it. */
static int cells_mark(const struct cells *t)
{
	text_str(t->out, t->mark ? t->mark : "");
	return t->mark ? (int)strlen(t->mark) : 0;
}

/* Aligns the text from start on to the width of the i-th column. */
static void cells_align(const struct cells *t, size_t i, size_t start, int width)
{
	bool is_last = t->is_fitted && i + 1 == t->count;
	text_align_from(t->out, start, is_last && width < 0 && t->out->len > start ? 0 : width);
}

static void cells_line_end(const struct cells *t)
{
	text_str(t->out, t->is_quoted ? "\r\n" : "\n");
}

void cells_head(const struct cells *t)
{
	if (t->json)
		return;
	int taken = cells_mark(t);
	bool is_first = true;
	for (size_t i = 0; i < t->count; i++) {
		const struct cell_column *column = &t->columns[cells_index(t, i)];
		if (!column->heading || !*column->heading)
			continue;
		cells_around(t, column->before, !is_first);
		size_t start = t->out->len;
		cells_name(t, column, str_from(column->heading));
		if (!t->separator)
			cells_align(t, i, start, column->width < 0 ? column->width + taken : column->width - taken);
		cells_around(t, column->after, false);
		is_first = false;
		taken = 0;
	}
	cells_line_end(t);
}

void cells_rule(const struct cells *t, char fill)
{
	if (t->json || t->separator)
		return;
	int taken = cells_mark(t);
	for (size_t i = 0; i < t->count; i++) {
		const struct cell_column *column = &t->columns[cells_index(t, i)];
		if (!column->heading)
			continue;
		cells_around(t, column->before, false);
		text_repeat(t->out, fill, (size_t)MAX(abs(column->width) - taken, 0));
		cells_around(t, column->after, false);
		taken = 0;
	}
	text_char(t->out, '\n');
}

void cells_put(const struct cells *t, const struct cell *row)
{
	bool is_first = true;
	for (size_t i = 0; i < t->count; i++) {
		size_t at = cells_index(t, i);
		const struct cell_column *column = &t->columns[at];
		if (t->json && column->key)
			cells_member(t->json, column, &row[at]);
		if (t->json || !column->heading)
			continue;
		cells_around(t, column->before, !is_first);
		size_t start = t->out->len;
		int width = column->width;
		if (t->is_fitted)
			width = cell_is_number(&row[at]) ? abs(width) : -abs(width);
		cells_value(t, column, &row[at]);
		if (!t->separator || column->is_padded)
			cells_align(t, i, start, width);
		cells_around(t, column->after, false);
		is_first = false;
	}
}

void cells_row(const struct cells *t, const struct cell *row)
{
	if (t->json)
		json_object(t->json, NULL);
	cells_put(t, row);
	if (t->json)
		json_object_end(t->json);
	else
		cells_line_end(t);
	(void)text_line_end(t->out);
}
