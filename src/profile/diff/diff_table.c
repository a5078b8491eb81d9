/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/diff/diff_table.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/intern.h"
#include "base/order.h"
#include "base/vec.h"

struct diff_builder {
	struct diff_table *diff;
	struct intern names; /* A row's values in all keys; the IDs are rows. */
	VEC(struct diff_row) rows;
	VEC(struct diff_value) values;
	struct text name;
};

static const struct flat_table *table_of(const struct diff_table *diff, const struct diff_row *row)
{
	return diff->tables[row->file];
}

static const struct flat_row *flat_row_of(const struct diff_table *diff, const struct diff_row *row)
{
	return &diff->tables[row->file]->rows[row->row];
}

/* Chooses which of the merged rows of one file is shown: as in perf, the one whose binary sorts first, and there the
 * one with the lowest (signed) address. */
static void choose_shown(const struct diff_table *diff, struct diff_row *row, uint32_t file, uint32_t other)
{
	const struct flat_row *shown = flat_row_of(diff, row), *rival = &diff->tables[file]->rows[other];
	if (row->file != file)
		return;
	struct row_value shown_object = row_value(table_of(diff, row), shown, KEY_DSO);
	struct row_value rival_object = row_value(table_of(diff, row), rival, KEY_DSO);
	struct row_value shown_name = row_value(table_of(diff, row), shown, KEY_SYMBOL);
	struct row_value rival_name = row_value(table_of(diff, row), rival, KEY_SYMBOL);
	/* Of the copies of a function, the one without a suffix is shown. */
	int order = diff->options.match ? COMPARE(rival_name.text.len, shown_name.text.len) : 0;
	if (order == 0)
		order = row_value_compare(KEY_DSO, &rival_object, &shown_object);
	if (order < 0 || (order == 0 && (int64_t)rival->address < (int64_t)shown->address))
		row->row = other;
}

static struct row_value diff_table_key(
	const struct diff_table *diff, const struct flat_table *table, const struct flat_row *row, enum profile_key key)
{
	const struct name_match *match = diff->options.match;
	struct row_value value = row_value(table, row, key);
	if (key == KEY_SYMBOL || key == KEY_PARENT || profile_key_get(key)->form == KEY_FORM_OFFSET)
		value.text = name_match_get(match, NAME_MATCH_FUNCTION, value.text);
	else if (key == KEY_DSO)
		value.text = name_match_get(match, NAME_MATCH_FILE, value.text);
	else if (key == KEY_COMM)
		value.text = name_match_get(match, NAME_MATCH_THREAD, value.text);
	return value;
}

static bool diff_table_add_row(struct diff_builder *b, uint32_t file, uint32_t index)
{
	struct diff_table *diff = b->diff;
	const struct flat_table *table = diff->tables[file];
	size_t files = diff->file_count;
	uint32_t id;
	text_clear(&b->name);
	for (size_t k = 0; k < diff->options.key_count; k++) {
		struct row_value value = diff_table_key(diff, table, &table->rows[index], diff->options.keys[k]);
		row_value_append(&b->name, &value);
	}
	if (b->name.failed || !intern_add(&b->names, b->name.data, b->name.len, &id))
		return false;
	if (id == b->rows.len) {
		struct diff_row row = {file, index};
		if (!vec_push(&b->rows, row) || !vec_reserve(&b->values, b->values.len + files))
			return false;
		memset(b->values.items + b->values.len, 0, files * sizeof(*b->values.items));
		b->values.len += files;
	}
	choose_shown(diff, &b->rows.items[id], file, index);
	const struct flat_stat *stat = flat_table_stat(table, index, 0);
	struct diff_value *value = &b->values.items[id * files + file];
	value->period += stat->period;
	value->count += stat->count;
	value->is_there = true;
	return true;
}

static bool add_files(struct diff_builder *b)
{
	struct diff_table *diff = b->diff;
	for (size_t file = 0; file < diff->file_count; file++) {
		const struct flat_table *table = diff->tables[file];
		if (!table)
			continue;
		diff->totals[file] = flat_total_period(&table->totals[0], diff->options.is_relative);
		for (size_t i = 0; i < table->shown_count; i++)
			if (!diff_table_add_row(b, (uint32_t)file, table->order[i]))
				return false;
	}
	return true;
}

static double diff_table_share(uint64_t period, uint64_t total)
{
	return total ? (double)period * 100.0 / (double)total : 0;
}

bool diff_table_has_difference(const struct diff_table *diff, size_t row, size_t file)
{
	return diff_table_value(diff, row, file)->is_there;
}

int64_t diff_table_weighted(const struct diff_table *diff, size_t row, size_t file)
{
	uint64_t mine = diff_table_value(diff, row, file)->period, base = diff_table_value(diff, row, 0)->period;
	return (int64_t)(mine * (uint64_t)diff->options.new_weight - base * (uint64_t)diff->options.base_weight);
}

double diff_table_difference(const struct diff_table *diff, size_t row, size_t file)
{
	uint64_t mine = diff_table_value(diff, row, file)->period, base = diff_table_value(diff, row, 0)->period;
	switch (diff->options.method) {
	case DIFF_DELTA:
	case DIFF_DELTA_ABS:
	case DIFF_CYCLES:
		return diff_table_share(mine, diff->totals[file]) - diff_table_share(base, diff->totals[0]);
	case DIFF_RATIO:
		return base ? (double)mine / (double)base : 0;
	case DIFF_WEIGHTED:
		return (double)diff_table_weighted(diff, row, file);
	}
	return 0;
}

static bool has_counterpart(const struct diff_table *diff, size_t row)
{
	if (!diff_table_value(diff, row, 0)->is_there)
		return false;
	for (size_t file = 1; file < diff->file_count; file++)
		if (diff_table_value(diff, row, file)->is_there)
			return true;
	return false;
}

size_t diff_table_matched_functions(const struct diff_table *diff)
{
	size_t count = 0;
	for (size_t row = 0; row < diff->row_count; row++) {
		struct row_value name =
			row_value(table_of(diff, &diff->rows[row]), flat_row_of(diff, &diff->rows[row]), KEY_SYMBOL);
		count += !name.is_unknown && has_counterpart(diff, row);
	}
	return count;
}

/* A ratio or weighted difference is undefined without a baseline, so rows without one are sorted separately. */
static int difference_rank(const struct diff_table *diff, size_t row, size_t file)
{
	if (!diff_table_has_difference(diff, row, file))
		return 2;
	bool needs_base = diff->options.method == DIFF_RATIO || diff->options.method == DIFF_WEIGHTED;
	return needs_base && !diff_table_value(diff, row, 0)->is_there;
}

static int compare_differences(const struct diff_table *diff, size_t a, size_t b, size_t file)
{
	int rank_a = difference_rank(diff, a, file), rank_b = difference_rank(diff, b, file);
	if (rank_a != rank_b)
		return rank_a - rank_b;
	if (rank_a > 0)
		return 0;
	double da = diff_table_difference(diff, a, file), db = diff_table_difference(diff, b, file);
	if (diff->options.method == DIFF_DELTA_ABS) {
		da = fabs(da);
		db = fabs(db);
	}
	return (da < db) - (da > db);
}

static int diff_table_compare_keys(const struct diff_table *diff, const struct diff_row *a, const struct diff_row *b)
{
	for (size_t k = 0; k < diff->options.key_count; k++) {
		struct row_value va = row_value(table_of(diff, a), flat_row_of(diff, a), diff->options.keys[k]);
		struct row_value vb = row_value(table_of(diff, b), flat_row_of(diff, b), diff->options.keys[k]);
		int order = row_value_compare(diff->options.keys[k], &va, &vb);
		if (order)
			return order;
	}
	return 0;
}

static int compare_periods(const struct diff_table *diff, size_t a, size_t b, size_t file)
{
	uint64_t pa = diff_table_value(diff, a, file)->period, pb = diff_table_value(diff, b, file)->period;
	return (pa < pb) - (pa > pb);
}

/* Rows that the baseline lacks show no ratio or weighted difference, but if nothing else decides, they are ordered by
 * their weighted period: a weight of 0 makes all of them equal, and a negative one reverses the order. */
static int compare_new_periods(const struct diff_table *diff, size_t a, size_t b, size_t file)
{
	int order = compare_periods(diff, a, b, file);
	if (diff->options.method != DIFF_WEIGHTED || diff->options.new_weight > 0)
		return order;
	return diff->options.new_weight < 0 ? -order : 0;
}

static int compare_other_differences(const struct diff_table *diff, size_t a, size_t b, size_t file)
{
	int order = compare_differences(diff, a, b, file);
	bool are_new = difference_rank(diff, a, file) == 1 && difference_rank(diff, b, file) == 1;
	return order == 0 && are_new ? compare_new_periods(diff, a, b, file) : order;
}

/* The order, found by running perf: the requested difference, the baseline's share, the other differences, periods,
 * the keys. */
static int diff_table_compare_rows(const void *left, const void *right, void *data)
{
	const struct diff_table *diff = data;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = 0;
	if (diff->options.order_file && diff->options.method != DIFF_CYCLES)
		order = compare_differences(diff, a, b, diff->options.order_file);
	if (order == 0)
		order = compare_periods(diff, a, b, 0);
	for (size_t file = 1; file < diff->file_count && order == 0; file++)
		order = compare_other_differences(diff, a, b, file);
	for (size_t file = 1; file < diff->file_count && order == 0; file++)
		order = compare_new_periods(diff, a, b, file);
	if (order == 0)
		order = diff_table_compare_keys(diff, &diff->rows[a], &diff->rows[b]);
	return order ? order : COMPARE(a, b);
}

/* Returns whether the baseline lacks the row, and is_seen is set for all files that have it: their rows were shown
 * already. */
static bool is_shown_elsewhere(const struct diff_table *diff, size_t row)
{
	const bool *is_seen = diff->options.is_seen;
	bool is_elsewhere = is_seen && !diff_table_value(diff, row, 0)->is_there;
	for (size_t file = 1; is_elsewhere && file < diff->file_count; file++)
		is_elsewhere = is_seen[file] || !diff_table_value(diff, row, file)->is_there;
	return is_elsewhere;
}

static bool diff_table_order_rows(struct diff_table *diff)
{
	diff->order = malloc((diff->row_count + 1) * sizeof(*diff->order));
	if (!diff->order)
		return false;
	diff->shown_base_total = diff->options.is_baseline_only ? 0 : diff->totals[0];
	for (size_t i = 0; i < diff->row_count; i++) {
		if ((diff->options.is_baseline_only && !has_counterpart(diff, i)) || is_shown_elsewhere(diff, i))
			continue;
		diff->order[diff->shown_count++] = (uint32_t)i;
		if (diff->options.is_baseline_only)
			diff->shown_base_total += diff_table_value(diff, i, 0)->period;
	}
	if (diff->shown_count)
		qsort_r(diff->order, diff->shown_count, sizeof(*diff->order), diff_table_compare_rows, diff);
	return true;
}

enum tally_status diff_table_init(struct diff_table *diff, const struct flat_table *const *tables, size_t file_count,
	const struct diff_options *options, struct tally_error *err)
{
	struct diff_table made = {.options = *options, .tables = tables, .file_count = file_count};
	struct diff_builder b = {.diff = &made};
	if (file_count == 0 || options->order_file >= file_count)
		return error_set(err, TALLY_INVALID, "no file %zu to compare", options->order_file);
	intern_init(&b.names);
	made.totals = calloc(file_count, sizeof(*made.totals));
	bool is_built = made.totals && add_files(&b);
	made.rows = b.rows.items;
	made.values = b.values.items;
	made.row_count = b.rows.len;
	is_built = is_built && diff_table_order_rows(&made);
	text_deinit(&b.name);
	intern_deinit(&b.names);
	if (!is_built) {
		diff_table_deinit(&made);
		return error_nomem(err);
	}
	*diff = made;
	return TALLY_OK;
}

void diff_table_deinit(struct diff_table *diff)
{
	free(diff->rows);
	free(diff->values);
	free(diff->order);
	free(diff->totals);
	*diff = (struct diff_table){0};
}
