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
	enum profile_key columns[REPORT_MAX_COLUMNS]; /* those that show */
	uint8_t levels[REPORT_MAX_COLUMNS]; /* of keys, in a hierarchy */
	size_t widths[REPORT_MAX_COLUMNS];
	size_t cells[REPORT_MAX_COLUMNS]; /* values: the width of one member's */
	uint8_t parts[REPORT_MAX_COLUMNS]; /* of values in parts: bit by part, those that some row has */
	size_t count;
	const struct flat_stat
		*node; /* sums of the level whose keys are shown, of which a row is a part; NULL: a row's */
	const uint64_t *shown_totals; /* by member: what percentages relate to; NULL: to what the table has */
};

/* Left-aligned, cut to the width; SIZE_MAX: as wide as it is. */
static inline void text_str_cut(struct text *out, struct tally_str text, size_t width)
{
	if (width == SIZE_MAX)
		text_bytes(out, text.data, text.len);
	else
		text_str_left(out, text_cells_cut(text, width), width);
}

/* The name of an object in cells. */
static inline struct tally_str report_object_name(const struct report_layout *l, uint32_t binary)
{
	uint32_t name = flat_binary_name(l->profile, &l->table->options, binary);
	return name == PROFILE_NONE ? STR("[unknown]") : profile_string(l->profile, name);
}

#endif
