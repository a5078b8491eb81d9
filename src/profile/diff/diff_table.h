/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_table.h - joins the flat tables of several recordings: rows with equal or matching names (name_match.h) become
 * one row.
 *
 * It borrows the tables (of one member each, made with the same keys), which must outlive it; the caller calls
 * diff_table_deinit. File 0 is the baseline. Differences are computed as in perf (perf-diff(1), "Comparison methods"),
 * to the last bit, so that differences are equal exactly where they are in perf.
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
	DIFF_DELTA, /* Difference of the shares, in percentage points. */
	DIFF_RATIO, /* Ratio of the periods. */
	DIFF_WEIGHTED, /* Difference of the periods, each multiplied by the weight of its side. */
	DIFF_CYCLES, /* Cycles of basic blocks, which the caller computes; rows are sorted by the baseline's shares. */
};

struct diff_options {
	const enum profile_key *keys; /* Borrowed. */
	size_t key_count;
	enum diff_method method;
	int64_t base_weight, new_weight;
	size_t order_file; /* File with the differences that rows are sorted by; 0 to sort by the baseline's share. */
	bool is_baseline_only; /* Leave out rows without a counterpart in any other file. */
	/* Indexed by file: rows that only files with this flag have are left out, because another event's table had
	 * them already. Borrowed; NULL if no file has the flag. */
	const bool *is_seen;
	bool is_relative; /* Shares are relative to the samples that pass the filter. */
	const struct name_match *match; /* Borrowed; NULL if only equal names match. */
};

struct diff_value { /* The sums of one row in one file. */
	uint64_t period, count;
	bool is_there;
};

struct diff_row {
	uint32_t file, row; /* The first file that has the row, and the row there. */
};

struct diff_table {
	struct diff_options options;
	const struct flat_table *const *tables; /* Indexed by file; NULL if the file lacks the event. */
	size_t file_count;
	struct diff_row *rows;
	struct diff_value *values; /* Indexed by row * file_count + file. */
	size_t row_count;
	uint32_t *order; /* Displayed rows, sorted. */
	size_t shown_count;
	uint64_t *totals; /* Indexed by file. */
	uint64_t shown_base_total; /* Total that the displayed shares of the baseline are relative to. */
};

TALLY_MUST_CHECK enum tally_status diff_table_init(struct diff_table *diff, const struct flat_table *const *tables,
	size_t file_count, const struct diff_options *options, struct tally_error *err);
void diff_table_deinit(struct diff_table *diff);

static inline const struct diff_value *diff_table_value(const struct diff_table *diff, size_t row, size_t file)
{
	return &diff->values[row * diff->file_count + file];
}
/* Returns whether the row has a difference in this file, which is not the baseline: it has one if the file contains the
 * row. */
bool diff_table_has_difference(const struct diff_table *diff, size_t row, size_t file);
/* Returns the number of functions with a row in the baseline and in another file. */
size_t diff_table_matched_functions(const struct diff_table *diff);
/* Returns the difference in the unit of the method: percentage points, a ratio, or a difference of periods. */
double diff_table_difference(const struct diff_table *diff, size_t row, size_t file);
int64_t diff_table_weighted(const struct diff_table *diff, size_t row, size_t file);

#endif
