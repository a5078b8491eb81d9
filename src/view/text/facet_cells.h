/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facet_cells.h - prints the cells of keys that display a facet of samples: branches, memory, time, weights, fields.
 *
 * Internal to view/text, called by report_cells.c for keys that have their own form.
 */
#ifndef VIEW_TEXT_FACET_CELLS_H
#define VIEW_TEXT_FACET_CELLS_H

#include "view/text/report_layout.h"

/* Returns 0 for keys that are as wide as their header. */
size_t facet_cell_width(const struct report_layout *l, enum profile_key key, const struct flat_row *row);
void facet_cell(const struct report_layout *l, struct text *out, size_t column, const struct flat_row *row);

#endif
