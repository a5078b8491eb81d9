/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_table.h - joins the flat tables of several recordings: rows with equal names become one row, as do rows
 * whose names stand for one another (name_match.h).
 *
 * Borrows the tables (of one member each, made with the same keys), which must outlive it; the caller deinits. File 0
 * is the baseline. Differences are computed as perf computes them (perf-diff(1), "Comparison methods"), to the last
 * bit, so that rows have equal differences exactly where they have in perf.
 *
 *	diff_table_init(&diff, tables, 2, &(struct diff_options){.keys = keys, .key_count = 2}, err);
 *	for (size_t i = 0; i < diff.shown_count; i++) use(&diff.rows[diff.order[i]]);
 *	diff_table_deinit(&diff);
 */
#ifndef PROFILE_DIFF_DIFF_TABLE_H
#define PROFILE_DIFF_DIFF_TABLE_H

#include "profile/name_match.h"
#include "profile/rows/row_value.h"

enum diff_method {
	DIFF_DELTA_ABS,
	DIFF_DELTA, /* of the shares in percent */
	DIFF_RATIO, /* of the periods */
	DIFF_WEIGHTED, /* periods, each times its file's weight */
	DIFF_CYCLES, /* of basic blocks, which the caller keeps; rows are in the order of the baseline's shares */
};

struct diff_options {
	const enum profile_key *keys; /* borrowed */
	size_t key_count;
	enum diff_method method;
	int64_t base_weight, new_weight;
	size_t order_file; /* whose difference sorts; 0: the baseline's share does */
	bool is_baseline_only; /* rows without a counterpart in any other file are left out */
	const bool *
		is_seen; /* by file, borrowed: its rows were in another event's table, so they add none; NULL: none was */
	bool is_relative; /* shares of what the filter lets through */
	const struct name_match *match; /* borrowed; NULL: only equal names are the same */
};

struct diff_value { /* of one row in one file */
	uint64_t period, count;
	bool is_there;
};

struct diff_row {
	uint32_t file, row; /* its row in the first file that has it */
};

struct diff_table {
	struct diff_options options;
	const struct flat_table *const *tables; /* by file; NULL: the file has no such event */
	size_t file_count;
	struct diff_row *rows;
	struct diff_value *values; /* row * file_count + file */
	size_t row_count;
	uint32_t *order; /* the rows that are shown, as sorted */
	size_t shown_count;
	uint64_t *totals; /* by file */
	uint64_t shown_base_total; /* the total of which the baseline's shares are shown */
};

TALLY_MUST_CHECK enum tally_status diff_table_init(struct diff_table *diff, const struct flat_table *const *tables,
	size_t file_count, const struct diff_options *options, struct tally_error *err);
void diff_table_deinit(struct diff_table *diff);

static inline const struct diff_value *diff_table_value(const struct diff_table *diff, size_t row, size_t file)
{
	return &diff->values[row * diff->file_count + file];
}
/* Whether the row has a difference in this file (not 0): a counterpart there, or no baseline at all. */
bool diff_table_has_difference(const struct diff_table *diff, size_t row, size_t file);
/* How many functions have a row in the baseline and in another file. */
size_t diff_table_matched_functions(const struct diff_table *diff);
/* In the unit of the method: percent, a ratio, or a difference of periods. */
double diff_table_difference(const struct diff_table *diff, size_t row, size_t file);
int64_t diff_table_weighted(const struct diff_table *diff, size_t row, size_t file);

#endif
