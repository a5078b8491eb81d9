/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer_changes.h - implements the view of changes of top: a mark stores the shares of all rows at one time, and
 * from then on only rows with another share are displayed, with the change in a column. It is for tables that are
 * refreshed.
 *
 * A mark belongs to the caller and must outlive its use by an explorer. Rows are matched by the text of their keys; the
 * change of a new row is its whole share.
 *
 *	if (!explorer_mark_take(&mark, &e, "20:51:07")) ...;
 *	explorer_set_mark(&e, &mark);   ... explorer_renew(&e, ...) ...
 *	explorer_set_mark(&e, NULL);	// explorer_rows.h
 *	explorer_mark_deinit(&mark);
 */
#ifndef VIEW_TUI_EXPLORER_CHANGES_H
#define VIEW_TUI_EXPLORER_CHANGES_H

#include "base/intern.h"
#include "view/tui/explorer_state.h"

#define EXPLORER_LEAST_CHANGE 0.5 /* In percentage points; smaller changes are considered noise. */

struct explorer_mark {
	struct intern names; /* Names of rows. */
	VEC(double) shares; /* Indexed by name, in percent. */
	char when[32];
};

/* Appends the name of a row, which is the full text of its keys. */
void explorer_row_name(const struct explorer *e, uint32_t table_row, struct text *name);
/* Stores the shares of all rows of the table, visible or not. Returns false when out of memory. */
bool explorer_mark_take(struct explorer_mark *mark, const struct explorer *e, const char *when);
void explorer_mark_deinit(struct explorer_mark *mark);
/* Stores the changes of the current table in the explorer, for explorer_select_rows. */
void explorer_compare(struct explorer *e);

#endif
