/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_draw.h - draws an annotated function into a grid of cells, and as text for a file. Pure functions of the
 * screen's state.
 *
 *	annotate_draw(&screen, &grid);
 */
#ifndef VIEW_TUI_ANNOTATE_DRAW_H
#define VIEW_TUI_ANNOTATE_DRAW_H

#include "view/tui/annotate_screen.h"

/* Returns false when out of memory. */
bool annotate_draw(const struct annotate_screen *s, struct grid *grid);
/* Prints all visible lines; out->failed is set when out of memory. */
void annotate_screen_print(const struct annotate_screen *s, struct text *out);

#endif
