/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer_draw.h - draws the explorer into a grid of cells, and as text for a file. A pure function of its state.
 *
 * The grid has the size that explorer_resize has set.
 *
 *	explorer_draw(&e, "1/2", &grid);
 */
#ifndef VIEW_TUI_EXPLORER_DRAW_H
#define VIEW_TUI_EXPLORER_DRAW_H

#include "view/tui/explorer_state.h"
#include "view/tui/grid.h"

/* Draws the explorer. events is the position among the recording's events, such as "1/2", or empty if there is only
 * one. Returns false when out of memory. */
bool explorer_draw(const struct explorer *e, const char *events, struct grid *grid);
/* Prints title, headers and all visible rows with their open call chains. */
TALLY_MUST_CHECK enum tally_status explorer_print(struct explorer *e, struct text *out, struct tally_error *err);

#endif
