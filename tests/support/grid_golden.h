/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid_golden.h - compares the text of a screen, and one letter for the style of each cell, with
 * tests/data/tui/NAME.txt. If TALLY_UPDATE is 1 in the environment, it writes the file instead.
 *
 *	assert_grid_is_golden(&grid, "table-80x24");
 */
#ifndef TESTS_SUPPORT_GRID_GOLDEN_H
#define TESTS_SUPPORT_GRID_GOLDEN_H

#include "view/tui/grid.h"

void assert_grid_is_golden(const struct grid *grid, const char *name);
/* Appends the screen as lines of UTF-8 without trailing blanks. */
void grid_text(const struct grid *grid, struct text *out);
/* Appends one letter for the style of each cell: blank, t(itle), h(eader), w(arm), H(ot), b(ottom), (s)ource, (m)atch,
 * (c)ursor, 0 to 9, x and y for the blocks; capital S for selected cells. */
void grid_style_text(const struct grid *grid, struct text *out);

#endif
