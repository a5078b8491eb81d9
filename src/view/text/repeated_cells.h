/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeated_cells.h - caches the previous cell of each column, so that a row with an equal value can copy its text.
 *
 * Sorted rows repeat most of the cells before the symbol: shares of few samples, the command, the DSO. A number
 * identifies such a cell; if it is equal, the text is copied instead of being formatted again.
 *
 * Internal to view/text. It belongs to one layout and one worker; it is zero-initialised and borrows nothing.
 *
 *	uint64_t id;
 *	bool has_id = repeated_cell_id(layout, column, row, &id);
 *	if (has_id && repeated_cells_copy(&cells, column, id, out)) return;
 *	... the cell and the blanks after it ...
 *	if (has_id) repeated_cells_keep(&cells, column, id, out, start);
 */
#ifndef VIEW_TEXT_REPEATED_CELLS_H
#define VIEW_TEXT_REPEATED_CELLS_H

#include "view/text/report_layout.h"

#define REPEATED_CELL_BYTES 48 /* Maximum length of a cached text; longer cells are always formatted. */

struct repeated_cell {
	uint64_t id;
	uint32_t len; /* 0 if nothing is cached. */
	char text[REPEATED_CELL_BYTES];
};

struct repeated_cells {
	struct repeated_cell cells[REPORT_MAX_COLUMNS];
};

/* Returns the number that identifies the cell's text; false if the text depends on more than one number. */
bool repeated_cell_id(const struct report_layout *l, size_t column, uint32_t row, uint64_t *id);
/* Appends the cached cell. Returns false if it is a different one. */
static inline bool repeated_cells_copy(const struct repeated_cells *cells, size_t column, uint64_t id, struct text *out)
{
	const struct repeated_cell *cell = &cells->cells[column];
	if (cell->len == 0 || cell->id != id)
		return false;
	char *to = text_room(out, REPEATED_CELL_BYTES);
	if (to) {
		memcpy(to, cell->text, REPEATED_CELL_BYTES);
		out->len += cell->len;
	}
	return true;
}
/* Caches the text from start on as the column's cell. */
void repeated_cells_keep(
	struct repeated_cells *cells, size_t column, uint64_t id, const struct text *out, size_t start);

#endif
