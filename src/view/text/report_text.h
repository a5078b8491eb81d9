/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_text.h - prints a flat profile as text: columns, rows and, under each row, its call chains.
 *
 * Appends to a text that the caller owns and flushes. The layout is that of `perf report --stdio`. Widths are those of
 * the longest cell among all rows, including those under the percent limit.
 *
 *	report_text_title(&out, &title);
 *	report_text_rows(&out, &table, &options, err);
 */
#ifndef VIEW_TEXT_REPORT_TEXT_H
#define VIEW_TEXT_REPORT_TEXT_H

#include "view/text/report_options.h"

struct report_title {
	const char *event; /* For example "cycles:u", or "anon group { a, b }". */
	bool is_group;
	bool has_reference; /* Chains are those of another event of the group. */
	uint64_t sample_count, total_period;
	const char *sort_order; /* Sort order of samples that count by weight; NULL if they count by period. */
	const uint64_t *socket; /* Selected socket; NULL for all. */
	const char *times; /* Selected spans of time; NULL for all. */
};

void report_text_title(struct text *out, const struct report_title *title);
/* Prints a short title on one line without a newline. */
void report_text_title_line(struct text *out, const struct report_title *title);
TALLY_MUST_CHECK enum tally_status report_text_rows(struct text *out, const struct flat_table *table,
	const struct report_text_options *options, struct tally_error *err);

#endif
