/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeated_cells.h - remembers what the previous row showed in each column, so that a row with an equal value can copy
 * it.
 *
 * Sorted rows repeat most of the cells before the symbol: shares of few samples, the command, the DSO. A number
 * identifies such a cell; it is compared, and if it is equal, the text is copied instead of being made again.
 *
 * Internal to view/text. It belongs to one layout and one worker; a value that borrows nothing and begins as zeros.
 *
 *	uint64_t id;
 *	bool has_id = repeated_cell_id(layout, column, row, &id);
 *	if (has_id && repeated_cells_copy(&cells, column, id, out)) return;
 *	... the cell and the blanks behind it ...
 *	if (has_id) repeated_cells_keep(&cells, column, id, out, start);
 */
#ifndef VIEW_TEXT_REPEATED_CELLS_H
#define VIEW_TEXT_REPEATED_CELLS_H

#include "view/text/report_layout.h"

#define REPEATED_CELL_BYTES 48 /* of text; a longer cell is made each time */

struct repeated_cell {
	uint64_t id;
	uint32_t len; /* 0: none is kept */
	char text[REPEATED_CELL_BYTES];
};

struct repeated_cells {
	struct repeated_cell cells[REPORT_MAX_COLUMNS];
};

/* False: the cell's text does not depend on one number alone. */
bool repeated_cell_id(const struct report_layout *l, size_t column, uint32_t row, uint64_t *id);
/* Appends the cell that is kept. False: it is another one. */
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
/* Keeps the text from start on as the column's cell. */
void repeated_cells_keep(
	struct repeated_cells *cells, size_t column, uint64_t id, const struct text *out, size_t start);

#endif
