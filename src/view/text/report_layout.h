/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_layout.h - computes the columns of a text report and their widths, for all code that prints cells.
 *
 * Internal to view/text. Borrows everything.
 */
#ifndef VIEW_TEXT_REPORT_LAYOUT_H
#define VIEW_TEXT_REPORT_LAYOUT_H

#include "base/text_cells.h"
#include "view/text/report_options.h"

#define REPORT_ADDRESS_DIGITS 16
#define REPORT_VALUE_WIDTH    12
#define REPORT_PERCENT_WIDTH  8

struct report_layout {
	const struct flat_table *table;
	const struct report_text_options *options;
	const struct profile *profile;
	enum profile_key columns[REPORT_MAX_COLUMNS]; /* Displayed columns. */
	uint8_t levels[REPORT_MAX_COLUMNS]; /* Level of each key in a hierarchy. */
	size_t widths[REPORT_MAX_COLUMNS];
	size_t cells[REPORT_MAX_COLUMNS]; /* Width of one member's value. */
	uint8_t parts[REPORT_MAX_COLUMNS]; /* For values in parts: bit mask of the parts that occur in some row. */
	size_t count;
	/* In a hierarchy, sums of the displayed node, of which a row is a part; NULL if the sums are the row's. */
	const struct flat_stat *node;
	/* Totals that percentages are relative to, indexed by member; NULL for those of the table. */
	const uint64_t *shown_totals;
};

/* Prints a text left-aligned and cut to the width; SIZE_MAX means no alignment. */
static inline void text_str_cut(struct text *out, struct tally_str text, size_t width)
{
	if (width == SIZE_MAX)
		text_bytes(out, text.data, text.len);
	else
		text_str_left(out, text_cells_cut(text, width), width);
}

/* Returns the displayed name of an object. */
static inline struct tally_str report_object_name(const struct report_layout *l, uint32_t binary)
{
	uint32_t name = flat_binary_name(l->profile, &l->table->options, binary);
	return name == PROFILE_NONE ? STR("[unknown]") : profile_string(l->profile, name);
}

#endif
