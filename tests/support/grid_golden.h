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

#endif
