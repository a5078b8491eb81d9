/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_text.h - prints a diff table as text: the baseline's shares, each file's difference, and the keys of the rows.
 *
 * Appends to a text that the caller owns and flushes. The layout is that of `perf diff`.
 *
 *	diff_text_rows(&out, &diff, &(struct diff_text_options){.columns = keys, .column_count = 2}, err);
 */
#ifndef VIEW_TEXT_DIFF_TEXT_H
#define VIEW_TEXT_DIFF_TEXT_H

#include "profile/diff/diff_table.h"
#include "view/text/report_options.h"

#define DIFF_TEXT_SPREAD 8

struct diff_text_block { /* The basic block of a row in one file. */
	const char *range;
	int64_t difference; /* Difference from the baseline in cycles. */
	/* Absolute differences in cycles between the block's first executions and those of the baseline. */
	int64_t spread[DIFF_TEXT_SPREAD];
	unsigned spread_count;
	bool has_base;
	size_t order; /* Position in the function. */
};

struct diff_text_blocks {
	struct diff_text_block *items;
	size_t count;
};

struct diff_text_options {
	const enum profile_key *columns; /* Displayed keys. */
	size_t column_count;
	const char *separator; /* NULL if columns are aligned with blanks. */
	bool is_quiet; /* Without titles. */
	bool with_formula, with_periods;
	bool with_spread; /* With the spread of blocks. */
	const struct diff_text_blocks *blocks; /* For DIFF_CYCLES; indexed by row * file_count + file. */
};

TALLY_MUST_CHECK enum tally_status diff_text_rows(struct text *out, const struct diff_table *diff,
	const struct diff_text_options *options, struct tally_error *err);

#endif
