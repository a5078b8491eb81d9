/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer_renew.h - replaces the table of an explorer while it is in use: it remembers by name what the user looked
 * at, and finds it in the new table.
 *
 * The memory belongs to the caller (explorer_memory_deinit) and serves for one refresh; table and profile may be
 * destroyed between the two calls. A cursor on the first row stays there, any other stays on its row (if that is gone:
 * where it was), and as far from the top of the screen as it was.
 *
 *	explorer_remember(&e, &memory);   ... the old profile and table go ...
 *	explorer_renew(&e, &memory, &table, title, err);
 */
#ifndef VIEW_TUI_EXPLORER_RENEW_H
#define VIEW_TUI_EXPLORER_RENEW_H

#include "base/intern.h"
#include "view/tui/explorer_state.h"

struct explorer_memory {
	struct intern open; /* rows that are open, and nodes of their chains */
	struct text cursor; /* the row; empty: the first one */
	struct text thread, binary, function; /* what is zoomed into */
	size_t cursor_row, cursor_line, above; /* where it is; lines of its row; of the screen */
	bool failed; /* memory runs out */
};

void explorer_remember(struct explorer *e, struct explorer_memory *memory);
/* title: borrowed. After a failure the explorer can only be deinited. */
TALLY_MUST_CHECK enum tally_status explorer_renew(struct explorer *e, const struct explorer_memory *memory,
	const struct flat_table *table, const char *title, struct tally_error *err);
void explorer_memory_deinit(struct explorer_memory *memory);

#endif
