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

/* events: "1/2", which of the recording's; empty where it has one. False: out of memory. */
bool explorer_draw(const struct explorer *e, const char *events, struct grid *grid);
/* Title, headers and all rows as they are opened and filtered. */
TALLY_MUST_CHECK enum tally_status explorer_print(struct explorer *e, struct text *out, struct tally_error *err);

#endif
