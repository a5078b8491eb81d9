/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/diff_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "view/text/diff_keys.h"

#define DELTA_WIDTH   7
#define VALUE_WIDTH   14
#define FORMULA_WIDTH 70
#define BLOCK_WIDTH   70
#define CYCLES_WIDTH  4
#define SPREAD_WIDTH  17

enum column_kind {
	COLUMN_BASELINE,
	COLUMN_BASE_PERIOD,
	COLUMN_DIFFERENCE,
	COLUMN_SPREAD,
	COLUMN_FORMULA,
	COLUMN_PERIOD
};

struct diff_text_column {
	enum column_kind kind;
	size_t file;
	size_t width;
	char header[48];
};

struct diff_text_layout {
	const struct diff_table *diff;
	const struct diff_text_options *options;
	VEC(struct diff_text_column) columns;
	struct diff_keys keys;
	struct text cell;
	size_t block; /* Index of the block that is printed: each block of a row has a line. */
};

static const char *difference_header(enum diff_method method)
{
	switch (method) {
	case DIFF_DELTA_ABS:
		return "Delta Abs";
	case DIFF_DELTA:
		return "Delta";
	case DIFF_RATIO:
		return "Ratio";
	case DIFF_WEIGHTED:
		return "Weighted diff";
	case DIFF_CYCLES:
		return "[Program Block Range] Cycles Diff";
	}
	return "";
}

static bool add_column(
	struct diff_text_layout *l, enum column_kind kind, size_t file, const char *header, size_t min_width)
{
	struct diff_text_column column = {.kind = kind, .file = file};
	if (l->diff->file_count > 2)
		snprintf(column.header, sizeof(column.header), "%s/%zu", header, file);
	else
		snprintf(column.header, sizeof(column.header), "%s", header);
	column.width = strlen(column.header);
	if (column.width < min_width)
		column.width = min_width;
	return vec_push(&l->columns, column);
}

static bool diff_text_add_columns(struct diff_text_layout *l)
{
	const struct diff_text_options *o = l->options;
	enum diff_method method = l->diff->options.method;
	bool is_share = method == DIFF_DELTA || method == DIFF_DELTA_ABS;
	size_t width = is_share ? DELTA_WIDTH : method == DIFF_CYCLES ? BLOCK_WIDTH : VALUE_WIDTH;
	bool is_done = add_column(l, COLUMN_BASELINE, 0, "Baseline", 0);
	if (o->with_periods)
		is_done = is_done && add_column(l, COLUMN_BASE_PERIOD, 0, "Base period", VALUE_WIDTH);
	for (size_t file = 1; file < l->diff->file_count; file++) {
		is_done = is_done && add_column(l, COLUMN_DIFFERENCE, file, difference_header(method), width);
		if (o->with_spread)
			is_done = is_done && add_column(l, COLUMN_SPREAD, file, "stddev/Hist", SPREAD_WIDTH);
		if (o->with_formula)
			is_done = is_done && add_column(l, COLUMN_FORMULA, file, "Formula", FORMULA_WIDTH);
		if (o->with_periods)
			is_done = is_done && add_column(l, COLUMN_PERIOD, file, "Period", VALUE_WIDTH);
	}
	return is_done;
}

static void formula_append(struct text *cell, const struct diff_table *diff, uint32_t row, size_t file)
{
	uint64_t mine = diff_table_value(diff, row, file)->period, base = diff_table_value(diff, row, 0)->period;
	switch (diff->options.method) {
	case DIFF_DELTA:
	case DIFF_DELTA_ABS:
		text_printf(cell, "(%" PRIu64 " * 100 / %" PRIu64 ") - (%" PRIu64 " * 100 / %" PRIu64 ")", mine,
			diff->totals[file], base, diff->shown_base_total);
		break;
	case DIFF_RATIO:
		text_printf(cell, "%" PRIu64 " / %" PRIu64, mine, base);
		break;
	case DIFF_WEIGHTED:
		text_printf(cell, "(%" PRIu64 " * %" PRId64 ") - (%" PRIu64 " * %" PRId64 ")", mine,
			diff->options.new_weight, base, diff->options.base_weight);
		break;
	case DIFF_CYCLES:
		break;
	}
}

static void difference_append(
	struct text *cell, const struct diff_table *diff, uint32_t row, size_t file, size_t column_width)
{
	double difference = diff_table_difference(diff, row, file);
	bool has_base = diff_table_value(diff, row, 0)->is_there;
	switch (diff->options.method) {
	case DIFF_DELTA:
	case DIFF_DELTA_ABS:
		text_printf(cell, "%+.2f%%", difference);
		break;
	case DIFF_RATIO:
		if (has_base)
			text_fixed_right(cell, difference, 6, VALUE_WIDTH);
		else
			text_str(cell, "N/A");
		break;
	case DIFF_WEIGHTED:
		if (!has_base) {
			text_str(cell, "N/A");
			break;
		}
		/* The column "Weighted diff/1" is wider than the number by one. */
		text_printf(cell, "%*" PRId64, VALUE_WIDTH, diff_table_weighted(diff, row, file));
		text_repeat(cell, ' ', column_width > cell->len ? column_width - cell->len : 0);
		break;
	case DIFF_CYCLES:
		break;
	}
}

static void block_append(struct diff_text_layout *l, uint32_t row, size_t file)
{
	const struct diff_text_blocks *blocks = &l->options->blocks[row * l->diff->file_count + file];
	if (l->block >= blocks->count)
		return;
	const struct diff_text_block *block = &blocks->items[l->block];
	text_printf(&l->cell, "[%s] ", block->range);
	if (block->has_base)
		text_printf(&l->cell, "%*" PRId64, CYCLES_WIDTH, block->difference);
	else
		text_repeat(&l->cell, ' ', CYCLES_WIDTH);
}

/* Appends the standard error of the mean in percent of it, and each value as a bar between the smallest and the
 * largest. */
static void spread_append(struct diff_text_layout *l, uint32_t row, size_t file)
{
	static const char *const bars[] = {
		"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
	const size_t highest = ARRAY_LEN(bars) - 1;
	const struct diff_text_blocks *blocks = &l->options->blocks[row * l->diff->file_count + file];
	const struct diff_text_block *block = l->block < blocks->count ? &blocks->items[l->block] : NULL;
	double sum = 0, squares = 0;
	int64_t least = INT64_MAX, most = 0;
	for (unsigned i = 0; block && i < block->spread_count; i++) {
		sum += (double)block->spread[i];
		least = MIN(block->spread[i], least);
		most = MAX(block->spread[i], most);
	}
	/* A single value has no variation, and a mean of 0 cannot be the base of a percentage. */
	if (!block || block->spread_count < 2 || most == 0) {
		text_repeat(&l->cell, ' ', SPREAD_WIDTH);
		return;
	}
	double count = block->spread_count, mean = sum / count;
	for (unsigned i = 0; i < block->spread_count; i++)
		squares += ((double)block->spread[i] - mean) * ((double)block->spread[i] - mean);
	text_printf(&l->cell, "\u00b1%5.1f%% ", 100 * sqrt(squares / (count - 1) / count) / mean);
	for (unsigned i = 0; i < block->spread_count; i++) {
		double height = most > least ? (double)(block->spread[i] - least) / (double)(most - least) : 0;
		text_str(&l->cell, bars[(size_t)(height * (double)highest)]);
	}
	/* A bar has three bytes but takes one column, so the cell is padded here. */
	text_repeat(&l->cell, ' ', DIFF_TEXT_SPREAD + 1 - block->spread_count);
}

/* Returns the number of lines of a row: the largest number of blocks in any file. */
static size_t line_count(const struct diff_text_layout *l, uint32_t row)
{
	size_t most = 1;
	for (size_t file = 0; l->options->blocks && file < l->diff->file_count; file++) {
		size_t count = l->options->blocks[row * l->diff->file_count + file].count;
		most = MAX(count, most);
	}
	return most;
}

/* Found by running perf: with a separator, a weighted difference of 0 is blank. */
static bool is_left_blank(const struct diff_text_layout *l, uint32_t row, size_t file)
{
	const struct diff_table *diff = l->diff;
	return l->options->separator && diff->options.method == DIFF_WEIGHTED &&
	       diff_table_value(diff, row, 0)->is_there && diff_table_weighted(diff, row, file) == 0;
}

static void diff_text_cell_make(struct diff_text_layout *l, const struct diff_text_column *column, uint32_t row)
{
	const struct diff_table *diff = l->diff;
	const struct diff_value *base = diff_table_value(diff, row, 0);
	const struct diff_value *mine = diff_table_value(diff, row, column->file);
	struct text *cell = &l->cell;
	text_clear(cell);
	switch (column->kind) {
	case COLUMN_BASELINE:
		if (!base->is_there)
			break;
		text_fixed(cell,
			diff->shown_base_total ? (double)base->period * 100.0 / (double)diff->shown_base_total : 0, 2);
		text_str(cell, l->options->separator ? "" : "%");
		break;
	case COLUMN_BASE_PERIOD:
		text_u64(cell, base->period);
		break;
	case COLUMN_DIFFERENCE:
		if (l->options->blocks)
			block_append(l, row, column->file);
		else if (mine->is_there && !is_left_blank(l, row, column->file))
			difference_append(cell, diff, row, column->file, column->width);
		break;
	case COLUMN_SPREAD:
		spread_append(l, row, column->file);
		break;
	case COLUMN_FORMULA:
		if (mine->is_there)
			formula_append(cell, diff, row, column->file);
		break;
	case COLUMN_PERIOD:
		if (mine->is_there)
			text_u64(cell, mine->period);
		break;
	}
}

static void diff_text_print_row(struct diff_text_layout *l, struct text *out, uint32_t index)
{
	const char *separator = l->options->separator;
	for (size_t i = 0; i < l->columns.len; i++) {
		const struct diff_text_column *column = &l->columns.items[i];
		diff_text_cell_make(l, column, index);
		struct tally_str cell = {l->cell.data, l->cell.len};
		text_str(out, !separator ? "  " : i ? separator : "");
		if (separator)
			text_str_left(out, cell, column->width);
		else
			text_str_right(out, cell, column->width);
	}
	diff_keys_cells(&l->keys, out, index);
	text_char(out, '\n');
}

static void diff_text_print_header(struct diff_text_layout *l, struct text *out)
{
	const char *separator = l->options->separator;
	text_str(out, "# ");
	for (size_t i = 0; i < l->columns.len; i++) {
		const struct diff_text_column *column = &l->columns.items[i];
		text_str(out, i ? separator ? separator : "  " : "");
		text_str_right(out, str_from(column->header), column->width);
	}
	diff_keys_header(&l->keys, out);
	text_char(out, '\n');
	if (separator)
		return;
	text_str(out, "# ");
	for (size_t i = 0; i < l->columns.len; i++) {
		text_str(out, i ? "  " : "");
		text_repeat(out, '.', l->columns.items[i].width);
	}
	diff_keys_dots(&l->keys, out);
	text_str(out, "\n#\n");
}

enum tally_status diff_text_rows(struct text *out, const struct diff_table *diff,
	const struct diff_text_options *options, struct tally_error *err)
{
	struct diff_text_layout layout = {.diff = diff, .options = options};
	layout.keys.separator = options->separator;
	bool is_laid_out = diff_text_add_columns(&layout);
	if (is_laid_out) {
		diff_keys_fit(
			&layout.keys, diff, options->columns, options->column_count, diff->order, diff->shown_count);
		if (!options->is_quiet)
			diff_text_print_header(&layout, out);
		for (size_t i = 0; i < diff->shown_count; i++) {
			size_t count = line_count(&layout, diff->order[i]);
			for (layout.block = 0; layout.block < count; layout.block++) {
				diff_text_print_row(&layout, out, diff->order[i]);
				text_line_end(out);
			}
		}
	}
	bool has_failed = !is_laid_out || out->failed || layout.cell.failed;
	vec_free(&layout.columns);
	text_deinit(&layout.cell);
	return has_failed ? error_nomem(err) : TALLY_OK;
}
