/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells_fit.h - prints a table whose columns are as wide as its first rows need: these rows wait until there are enough
 * of them, then headings and rows are printed as they arrive. Later, wider cells are not truncated.
 *
 * Texts are aligned to the left, numbers to the right. Widths count characters. It owns its columns and a copy of the
 * waiting rows. One thread.
 *
 *	if (cells_fit_init(&fit, &table)) { cells_fit_row(&fit, row); ... cells_fit_finish(&fit); }
 *	cells_fit_deinit(&fit);	also after failure
 */
#ifndef VIEW_TABLE_CELLS_FIT_H
#define VIEW_TABLE_CELLS_FIT_H

#include "base/arena.h"
#include "view/table/cells.h"

struct cells_fit {
	struct cells table; /* of columns below */
	struct cell_column *columns;
	struct cell *waiting; /* rows, one after another; NULL: they have been written */
	size_t rows; /* of waiting */
	struct arena texts; /* of waiting */
	size_t text_bytes;
};

/* table: text, all of its columns in their order. False: out of memory. */
TALLY_MUST_CHECK bool cells_fit_init(struct cells_fit *fit, const struct cells *table);
/* Out of memory is the text's failure. */
void cells_fit_row(struct cells_fit *fit, const struct cell *row);
/* Writes the waiting rows. Call it after the last row. */
void cells_fit_finish(struct cells_fit *fit);
void cells_fit_deinit(struct cells_fit *fit);

#endif
