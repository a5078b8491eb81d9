/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells_fit.h - prints a table with columns as wide as its first rows need: these rows are held back until there are
 * enough of them, then headings and rows are printed at once. Wider cells in later rows are not truncated.
 *
 * Texts are aligned to the left, numbers to the right. It owns its columns and a copy of the rows that are held back
 * (waiting rows). One thread.
 *
 *	if (cells_fit_init(&fit, &table)) { cells_fit_row(&fit, row); ... cells_fit_finish(&fit); }
 *	cells_fit_deinit(&fit);	// also after a failure
 */
#ifndef VIEW_TABLE_CELLS_FIT_H
#define VIEW_TABLE_CELLS_FIT_H

#include "base/arena.h"
#include "view/table/cells.h"

struct cells_fit {
	struct cells table; /* Uses the columns below. */
	struct cell_column *columns;
	struct cell *waiting; /* Waiting rows, one after another; NULL once they have been written. */
	size_t rows; /* Number of waiting rows. */
	struct arena texts; /* Texts of waiting rows. */
	size_t text_bytes;
};

/* Initialises the table. `table` must be for text, with all columns in their order. Returns false when out of
 * memory. */
TALLY_MUST_CHECK bool cells_fit_init(struct cells_fit *fit, const struct cells *table);
/* Adds a row. The text keeps failures. */
void cells_fit_row(struct cells_fit *fit, const struct cell *row);
/* Writes the waiting rows. Call it after the last row. */
void cells_fit_finish(struct cells_fit *fit);
void cells_fit_deinit(struct cells_fit *fit);

#endif
