/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_keys.h - prints the key columns of a diff: each row is displayed as in the first recording that has it. Internal
 * to view/text.
 *
 *	diff_keys_fit(&keys, diff, columns, count, rows, row_count);
 *	diff_keys_cells(&keys, out, row);
 */
#ifndef VIEW_TEXT_DIFF_KEYS_H
#define VIEW_TEXT_DIFF_KEYS_H

#include "profile/diff/diff_table.h"
#include "view/text/report_cells.h"

struct diff_keys {
	const struct diff_table *diff;
	const char *separator; /* NULL if columns are aligned with blanks. */
	struct report_layout layout;
	struct report_text_options options;
};

/* Makes the columns wide enough for these rows. The struct must not be moved. */
void diff_keys_fit(struct diff_keys *keys, const struct diff_table *diff, const enum profile_key *columns,
	size_t column_count, const uint32_t *rows, size_t row_count);
void diff_keys_header(const struct diff_keys *keys, struct text *out);
void diff_keys_dots(const struct diff_keys *keys, struct text *out);
/* Prints the cells of a row, each after a separator. */
void diff_keys_cells(struct diff_keys *keys, struct text *out, uint32_t row);

#endif
