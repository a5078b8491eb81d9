/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_text.h - prints a diff table as text: the baseline's shares, each file's difference, and the keys of the rows.
 *
 * Appends to a text that the caller owns and flushes. Lay-out: that of `perf diff`.
 *
 *	diff_text_rows(&out, &diff, &(struct diff_text_options){.columns = keys, .column_count = 2}, err);
 */
#ifndef VIEW_TEXT_DIFF_TEXT_H
#define VIEW_TEXT_DIFF_TEXT_H

#include "profile/diff/diff_table.h"
#include "view/text/report_options.h"

#define DIFF_TEXT_SPREAD 8

struct diff_text_block { /* of a row in a file */
	const char *range;
	int64_t difference; /* in cycles, from the baseline's */
	int64_t spread[DIFF_TEXT_SPREAD]; /* differences of single times, without their sign */
	unsigned spread_count;
	bool has_base;
	size_t order; /* in the function */
};

struct diff_text_blocks {
	struct diff_text_block *items;
	size_t count;
};

struct diff_text_options {
	const enum profile_key *columns; /* keys that show */
	size_t column_count;
	const char *separator; /* NULL: columns are aligned with blanks */
	bool is_quiet; /* no titles */
	bool with_formula, with_periods;
	bool with_spread; /* of blocks */
	const struct diff_text_blocks *blocks; /* DIFF_CYCLES: row * file_count + file */
};

TALLY_MUST_CHECK enum tally_status diff_text_rows(struct text *out, const struct diff_table *diff,
	const struct diff_text_options *options, struct tally_error *err);

#endif
