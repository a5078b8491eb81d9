/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_draw.h - draws a flame screen into a grid of cells. A pure function of the screen's state.
 *
 *	flame_draw(&screen, &grid);
 */
#ifndef VIEW_TUI_FLAME_DRAW_H
#define VIEW_TUI_FLAME_DRAW_H

#include "view/tui/flame_screen.h"

/* Returns false when out of memory. */
bool flame_draw(const struct flame_screen *s, struct grid *grid);

#endif
