/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer_renew.h - replaces the table of an explorer while it is in use: it stores the cursor, open rows and zooms by
 * name, and restores them in the new table.
 *
 * The memory belongs to the caller (explorer_memory_deinit) and is valid for one refresh; table and profile may be
 * destroyed between the two calls. A cursor on the first row stays there; otherwise it stays on its row (or, if that is
 * gone, at its position), at the same distance from the top of the screen.
 *
 *	explorer_remember(&e, &memory);   ... the old profile and table are destroyed ...
 *	explorer_renew(&e, &memory, &table, title, err);
 */
#ifndef VIEW_TUI_EXPLORER_RENEW_H
#define VIEW_TUI_EXPLORER_RENEW_H

#include "base/intern.h"
#include "view/tui/explorer_state.h"

struct explorer_memory {
	struct intern open; /* Names of open rows, and of open nodes of their chains. */
	struct text cursor; /* Name of the cursor's row; empty for the first row. */
	struct text thread, binary, function; /* Names of the thread, binary and function that are zoomed into. */
	/* Position of the cursor: its row, its line in the row, and the lines above it on the screen. */
	size_t cursor_row, cursor_line, above;
	bool failed; /* Memory ran out. */
};

void explorer_remember(struct explorer *e, struct explorer_memory *memory);
/* Switches to the new table and restores the state. title is borrowed. After a failure, the explorer can only be
 * deinitialised. */
TALLY_MUST_CHECK enum tally_status explorer_renew(struct explorer *e, const struct explorer_memory *memory,
	const struct flat_table *table, const char *title, struct tally_error *err);
void explorer_memory_deinit(struct explorer_memory *memory);

#endif
