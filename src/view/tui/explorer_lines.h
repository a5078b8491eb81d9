/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer_lines.h - lists the lines of the interactive report: rows, and the call chains of open rows; it tracks the
 * cursor and the visible part.
 *
 * Chains are built when they come into view, so even a table of a million rows needs work only for the visible ones.
 *
 *	explorer_resize(&e, 24, 80);
 *	explorer_move(&e, 3);
 *	explorer_toggle(&e);
 */
#ifndef VIEW_TUI_EXPLORER_LINES_H
#define VIEW_TUI_EXPLORER_LINES_H

#include "view/tui/explorer_state.h"

void explorer_resize(struct explorer *e, unsigned rows, unsigned columns);
/* Returns the number of table lines that fit on the screen. */
unsigned explorer_page(const struct explorer *e);
/* Moves the cursor to a valid line and scrolls to it. Call it after a change of lines, cursor or screen size. */
void explorer_settle(struct explorer *e);
void explorer_move(struct explorer *e, long lines);
/* Moves the cursor to this row of the screen. Returns false if it is not a line of the table. */
bool explorer_click(struct explorer *e, unsigned screen_row);
void explorer_home(struct explorer *e);
void explorer_end(struct explorer *e);
/* Scrolls so that the cursor is this number of lines below the top of the table. */
void explorer_place(struct explorer *e, size_t above);
/* Moves *position to the next line. Returns false at the end. */
bool explorer_next_line(struct explorer *e, struct explorer_position *position);

/* Opens or closes one level: the row, or the nodes below a line of its chains. */
void explorer_toggle(struct explorer *e);
/* Returns whether explorer_toggle has an effect. */
bool explorer_can_toggle(const struct explorer *e);
/* Opens or closes the row with all nodes. */
void explorer_toggle_row(struct explorer *e);
void explorer_close_row(struct explorer *e);
void explorer_set_all(struct explorer *e, bool is_open);
/* Opens a row and returns its chains; NULL when out of memory. */
struct explorer_fold *explorer_open_row(struct explorer *e, uint32_t table_row);
/* Returns the chains of a visible row that has been in view; NULL if it displays no chains. */
const struct explorer_fold *explorer_fold_at(const struct explorer *e, size_t row);
bool explorer_has_chains(const struct explorer *e, uint32_t table_row);
/* Drops all chains. They are built again when they come into view, closed unless are_all_open is set. */
void explorer_drop_folds(struct explorer *e);

#endif
