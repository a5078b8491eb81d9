/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_cells.h - formats the cells of the text report: what a row shows in a column, and its width.
 *
 * Internal to view/text: for report_text and report_hierarchy. Borrows everything.
 *
 *	report_layout_fit(&layout);
 *	report_key_cell(&layout, out, column, row);
 */
#ifndef VIEW_TEXT_REPORT_CELLS_H
#define VIEW_TEXT_REPORT_CELLS_H

#include "view/text/report_layout.h"

/* The total for percentages of a member. */
uint64_t report_member_total(const struct report_layout *l, uint32_t member);
/* The same of one column. */
uint64_t report_value_total(const struct report_layout *l, uint32_t member, enum profile_key key);
static inline bool report_column_is_of_level(const struct report_layout *l, size_t column, uint32_t level)
{
	return !profile_key_get(l->columns[column])->is_value && l->levels[column] == level;
}
const char *report_column_header(const struct report_layout *l, enum profile_key key);
/* The header as it stands above the column, at its right where the column is; of a value in parts, their names. */
void report_header_cell(const struct report_layout *l, struct text *out, size_t column, size_t width);
/* The upper header: for a value in parts, the name of the whole. False: no column has one. */
bool report_has_upper_header(const struct report_layout *l);
void report_upper_header_cell(const struct report_layout *l, struct text *out, size_t column);
/* Of a key's cell; 0: any width will do. */
size_t report_cell_width(const struct report_layout *l, enum profile_key key, const struct flat_row *row);
/* Chooses the visible columns, and fits their widths to the visible rows. */
void report_layout_fit(struct report_layout *l);
/* A value of every member, side by side. */
void report_value_cell(const struct report_layout *l, struct text *out, size_t column, const struct flat_stat *stats);
/*
 * Finding the name of a row's function takes several look-ups: a loop over many rows makes each step some rows ahead of
 * the next step, so that their waits for memory overlap. Steps are numbered from 0, in their order.
 */
#define REPORT_NAME_STEPS 4
void report_expect_name(const struct profile *profile, const struct flat_row *row, unsigned step);
/* Cut to the column's width, not always padded to it. */
void report_key_cell(const struct report_layout *l, struct text *out, size_t column, const struct flat_row *row);
/* Replaces each separator in the cell that was written from start on by a dot, so that lines can be split. */
void report_mask_separator(const struct report_layout *l, struct text *out, size_t column, size_t start);

#endif
