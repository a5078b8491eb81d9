/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_cells.h - formats the cells of the text report, and computes their widths.
 *
 * Internal to view/text: for report_text and report_hierarchy. Borrows everything.
 *
 *	report_layout_fit(&layout);
 *	report_key_cell(&layout, out, column, row);
 */
#ifndef VIEW_TEXT_REPORT_CELLS_H
#define VIEW_TEXT_REPORT_CELLS_H

#include "view/text/report_layout.h"

/* Returns the total that percentages of a member, which is an event of a group, are relative to. */
uint64_t report_member_total(const struct report_layout *l, uint32_t member);
/* Returns the total that a member's percentages in the column of this key are relative to. */
uint64_t report_value_total(const struct report_layout *l, uint32_t member, enum profile_key key);
static inline bool report_column_is_of_level(const struct report_layout *l, size_t column, uint32_t level)
{
	return !profile_key_get(l->columns[column])->is_value && l->levels[column] == level;
}
const char *report_column_header(const struct report_layout *l, enum profile_key key);
/* Prints the header of a column, aligned like the column; for a value in parts, the names of the parts. */
void report_header_cell(const struct report_layout *l, struct text *out, size_t column, size_t width);
/* Returns whether any column has an upper header, which is the name of a value in parts. */
bool report_has_upper_header(const struct report_layout *l);
void report_upper_header_cell(const struct report_layout *l, struct text *out, size_t column);
/* Returns the width of a key's cell; 0 if it adapts to any width. */
size_t report_cell_width(const struct report_layout *l, enum profile_key key, const struct flat_row *row);
/* Chooses the visible columns, and fits their widths to the visible rows. */
void report_layout_fit(struct report_layout *l);
/* Prints a value of every member, next to each other. */
void report_value_cell(const struct report_layout *l, struct text *out, size_t column, const struct flat_stat *stats);
/* Prefetches the name of a row's function. This takes several look-ups, so a loop over many rows calls each step some
 * rows ahead of the next step, so that their waits for memory overlap. Steps are numbered from 0 in their order. */
#define REPORT_NAME_STEPS 4
void report_expect_name(const struct profile *profile, const struct flat_row *row, unsigned step);
/* Prints a key's cell, cut to the column's width but not always padded to it. */
void report_key_cell(const struct report_layout *l, struct text *out, size_t column, const struct flat_row *row);
/* Replaces each separator in the cell that starts at start by a dot, so that lines can be split. */
void report_mask_separator(const struct report_layout *l, struct text *out, size_t column, size_t start);

#endif
