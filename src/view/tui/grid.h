/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid.h - stores a screen as cells, which screens draw into and a terminal displays. It uses no terminal and no
 * locale.
 *
 * Text is UTF-8; control characters and invalid bytes become '?', characters without width are left out, and a wide
 * character occupies a second cell with character 0. Text that does not fit is cut. The caller calls grid_deinit.
 *
 *	struct grid grid = {0};
 *	if (!grid_resize(&grid, 24, 80)) return error_nomem(err);
 *	unsigned next = grid_put(&grid, 0, 0, STR("main"), GRID_PLAIN);
 */
#ifndef VIEW_TUI_GRID_H
#define VIEW_TUI_GRID_H

#include "base/text.h"

enum grid_style {
	GRID_PLAIN,
	GRID_TITLE,
	GRID_HEADER,
	GRID_WARM, /* A noticeable share. */
	GRID_HOT, /* A large share. */
	GRID_BOTTOM,
	GRID_SOURCE, /* Source lines of a program. */
	GRID_MATCH, /* A match of a search. */
	GRID_CURSOR, /* The block that keys act on. */
	GRID_BLOCKS, /* Blocks of a flame graph: two shades for each of GRID_BLOCK_KINDS kinds. */
	GRID_BLOCKS_END = GRID_BLOCKS + 11,
	GRID_STYLE_COUNT
};
#define GRID_BLOCK_KINDS 6
#define GRID_SELECTED	 0x80 /* Flag added to a style: the line that keys act on. */

struct grid_cell {
	uint32_t character; /* Unicode code point; 0 for the right half of a wide one. */
	uint8_t style; /* enum grid_style with GRID_SELECTED. */
};

struct grid {
	unsigned rows, columns;
	struct grid_cell *cells; /* Cells of each row are adjacent. */
};

/* Sets the size and clears all cells. Returns false when out of memory; the grid is unchanged then. */
bool grid_resize(struct grid *grid, unsigned rows, unsigned columns);
void grid_deinit(struct grid *grid);
void grid_clear(struct grid *grid);
/* Returns the column after the text. */
unsigned grid_put(struct grid *grid, unsigned row, unsigned column, struct tally_str text, unsigned style);
/* grid_fill sets the style of a whole row, and grid_select adds GRID_SELECTED to it. */
void grid_select(struct grid *grid, unsigned row);
void grid_fill(struct grid *grid, unsigned row, unsigned style);
/* Removes the next character from the text and returns it. *width is its number of cells, which may be 0. */
uint32_t grid_next_character(struct tally_str *text, unsigned *width);

#endif
