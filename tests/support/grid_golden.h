/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid_golden.h - compares a screen with tests/data/tui/NAME.txt: its text, and a letter for each cell's style. With
 * TALLY_UPDATE=1 in the environment the file is written anew.
 *
 *	assert_grid_is_golden(&grid, "table-80x24");
 */
#ifndef TESTS_SUPPORT_GRID_GOLDEN_H
#define TESTS_SUPPORT_GRID_GOLDEN_H

#include "view/tui/grid.h"

void assert_grid_is_golden(const struct grid *grid, const char *name);
/* The screen as lines of UTF-8, without blanks at their ends. */
void grid_text(const struct grid *grid, struct text *out);
/* The same with a letter for each cell's style: blank, t(itle), h(eader), w(arm), H(ot), b(ottom), (s)ource, (m)atch, (c)ursor, 0 to 9, x and y
 * for the blocks; capital S: selected. */
void grid_style_text(const struct grid *grid, struct text *out);

#endif
