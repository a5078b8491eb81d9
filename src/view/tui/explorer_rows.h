/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer_rows.h - chooses the rows of a table that the interactive report shows (filters, percent limit, search), and
 * describes the row at the cursor.
 *
 *	explorer_zoom_symbol(&e, "alloc");
 *	if (e.visible_count == 0)
 *		(void)explorer_zoom_out(&e);
 */
#ifndef VIEW_TUI_EXPLORER_ROWS_H
#define VIEW_TUI_EXPLORER_ROWS_H

#include "view/tui/explorer_state.h"

/* Selects the rows that pass the filters in e. The cursor stays on its row, if that is still visible. */
void explorer_select_rows(struct explorer *e);
/* Only rows that changed since show, with the change: see explorer_changes.h. Borrowed; NULL: all show again. */
void explorer_set_mark(struct explorer *e, const struct explorer_mark *mark);
/* Rows of the cursor's thread, or object, only; again: all. */
void explorer_zoom_thread(struct explorer *e);
void explorer_zoom_dso(struct explorer *e);
void explorer_zoom_function(struct explorer *e);
void explorer_zoom_kernel(struct explorer *e);
void explorer_zoom_socket(struct explorer *e);
/* Rows whose symbol has this in it; empty: all. */
void explorer_zoom_symbol(struct explorer *e, const char *part);
/* Removes the last zoom. False: there is none. */
bool explorer_zoom_out(struct explorer *e);
void explorer_set_percent_limit(struct explorer *e, double percent);
/* Sets the limit to the next higher or lower of the usual percentages. */
void explorer_step_percent_limit(struct explorer *e, bool is_up);
void explorer_switch_relative(struct explorer *e);
/* To the next row with the pattern in the name of its symbol, object or thread. */
void explorer_search(struct explorer *e, bool is_back);

/* The function that the cursor is on, a row's or a caller; PROFILE_NONE: it is on no single one. */
uint32_t explorer_cursor_function(const struct explorer *e, struct tally_str *name);
/* The same; shows the reason if there is none. */
uint32_t explorer_function(struct explorer *e);
/* What explorer_zoom_thread, _dso and _socket would zoom into. False: nothing. */
bool explorer_cursor_thread(const struct explorer *e, struct tally_str *name);
bool explorer_cursor_object(const struct explorer *e, struct tally_str *name);
bool explorer_cursor_socket(const struct explorer *e, uint64_t *socket);

#endif
