/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer_lines.h - lists the lines of the interactive report: rows, and the call chains of open rows; it tracks the
 * cursor and the visible part.
 *
 * Chains are built when they come into view, so the work for a table of a million rows is only that for the visible
 * ones.
 *
 *	explorer_resize(&e, 24, 80);
 *	explorer_move(&e, 3);
 *	explorer_toggle(&e);
 */
#ifndef VIEW_TUI_EXPLORER_LINES_H
#define VIEW_TUI_EXPLORER_LINES_H

#include "view/tui/explorer_state.h"

void explorer_resize(struct explorer *e, unsigned rows, unsigned columns);
/* Lines of the table that fit on the screen. */
unsigned explorer_page(const struct explorer *e);
/* After lines, cursor or the screen's size changed: the cursor is on a line, which is on the screen. */
void explorer_settle(struct explorer *e);
void explorer_move(struct explorer *e, long lines);
/* Moves the cursor to this row of the screen; false: it is not a line of the table. */
bool explorer_click(struct explorer *e, unsigned screen_row);
void explorer_home(struct explorer *e);
void explorer_end(struct explorer *e);
/* The cursor so many lines from the top of the screen. */
void explorer_place(struct explorer *e, size_t above);
/* False at the end. */
bool explorer_next_line(struct explorer *e, struct explorer_position *position);

/* Opens or closes one level: the row, or what is below the chain line. */
void explorer_toggle(struct explorer *e);
/* Whether explorer_toggle has an effect. */
bool explorer_can_toggle(const struct explorer *e);
/* All of the row. */
void explorer_toggle_row(struct explorer *e);
void explorer_close_row(struct explorer *e);
void explorer_set_all(struct explorer *e, bool is_open);
/* The row's chains, open from now on; NULL: memory runs out. */
struct explorer_fold *explorer_open_row(struct explorer *e, uint32_t table_row);
/* NULL: the row shows no chains. Of rows that were in view. */
const struct explorer_fold *explorer_fold_at(const struct explorer *e, size_t row);
bool explorer_has_chains(const struct explorer *e, uint32_t table_row);
/* Drops all chains. They are built again when they come into view, closed unless are_all_open. */
void explorer_drop_folds(struct explorer *e);

#endif
