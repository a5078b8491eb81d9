/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer_rows.h - selects the rows of a table that the interactive report displays (filters, percent limit, search),
 * and describes the row at the cursor.
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
/* Displays only rows that changed since the mark, with the change, see explorer_changes.h. mark is borrowed; NULL
 * displays all rows again. */
void explorer_set_mark(struct explorer *e, const struct explorer_mark *mark);
/* explorer_zoom_thread to explorer_zoom_socket display only rows of the cursor's thread, object and so on; a second
 * call displays all rows again. */
void explorer_zoom_thread(struct explorer *e);
void explorer_zoom_dso(struct explorer *e);
void explorer_zoom_function(struct explorer *e);
void explorer_zoom_kernel(struct explorer *e);
void explorer_zoom_socket(struct explorer *e);
/* Displays only rows with this text in their symbol; an empty text displays all. */
void explorer_zoom_symbol(struct explorer *e, const char *part);
/* Removes the last zoom. Returns false if there is none. */
bool explorer_zoom_out(struct explorer *e);
void explorer_set_percent_limit(struct explorer *e, double percent);
/* Sets the limit to the next higher or lower of the usual percentages. */
void explorer_step_percent_limit(struct explorer *e, bool is_up);
void explorer_switch_relative(struct explorer *e);
/* Moves the cursor to the next row with the pattern in the name of its symbol, object or thread. */
void explorer_search(struct explorer *e, bool is_back);

/* Returns the function at the cursor, of a row or a caller; PROFILE_NONE if there is no single one. */
uint32_t explorer_cursor_function(const struct explorer *e, struct tally_str *name);
/* Does the same, and displays the reason if there is none. */
uint32_t explorer_function(struct explorer *e);
/* Return what explorer_zoom_thread, _dso and _socket would zoom into; false if there is nothing. */
bool explorer_cursor_thread(const struct explorer *e, struct tally_str *name);
bool explorer_cursor_object(const struct explorer *e, struct tally_str *name);
bool explorer_cursor_socket(const struct explorer *e, uint64_t *socket);

#endif
