/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid.h - stores a screen as cells, which the explorer draws into and a terminal shows. It uses no terminal and no
 * locale.
 *
 * Text is UTF-8; control characters and invalid bytes become '?', marks without width are left out, and a wide
 * character takes a second cell, whose character is 0. Text that does not fit is truncated. The caller deinits.
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
	GRID_WARM, /* a noticeable share */
	GRID_HOT, /* one that stands out */
	GRID_BOTTOM,
	GRID_SOURCE, /* lines of a program */
	GRID_MATCH, /* of a search */
	GRID_CURSOR, /* the block that keys act on */
	GRID_BLOCKS, /* of a flame: two shades of each of GRID_BLOCK_KINDS kinds */
	GRID_BLOCKS_END = GRID_BLOCKS + 11,
	GRID_STYLE_COUNT
};
#define GRID_BLOCK_KINDS 6
#define GRID_SELECTED	 0x80 /* added to a style: the line that keys act on */

struct grid_cell {
	uint32_t character; /* Unicode; 0: the right half of a wide one */
	uint8_t style; /* enum grid_style, and GRID_SELECTED */
};

struct grid {
	unsigned rows, columns;
	struct grid_cell *cells; /* row by row */
};

/* All blank. False: out of memory, the grid is as it was. */
bool grid_resize(struct grid *grid, unsigned rows, unsigned columns);
void grid_deinit(struct grid *grid);
void grid_clear(struct grid *grid);
/* Returns the column after the text. */
unsigned grid_put(struct grid *grid, unsigned row, unsigned column, struct tally_str text, unsigned style);
/* The style of a row to its end. */
void grid_select(struct grid *grid, unsigned row);
void grid_fill(struct grid *grid, unsigned row, unsigned style);
/* Takes the next character off the text; its width in cells, which may be 0. */
uint32_t grid_next_character(struct tally_str *text, unsigned *width);

#endif
