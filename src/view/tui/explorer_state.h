/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer_state.h - holds the state of the interactive report for one table: rows, chains, filters, cursor. It is a
 * value with functions that read it. explorer_table.h makes it, explorer_lines.h handles lines and the cursor, and
 * explorer_rows.h chooses the rows. Keys and drawing are elsewhere.
 *
 * Borrows table, title and the arrays of its options; the struct must stay where it is. Failures stick in `failed`.
 *
 *	if (explorer_is_zoomed(&e, ZOOM_DSO))
 *		explorer_say(&e, "rows are of one object");
 */
#ifndef VIEW_TUI_EXPLORER_STATE_H
#define VIEW_TUI_EXPLORER_STATE_H

#include "base/map_u64.h"
#include "base/vec.h"
#include "view/text/report_layout.h"
#include "view/tui/explorer_fold.h"
#include "view/tui/tui_input.h"
#include "view/tui/tui_line.h"
#include "view/tui/tui_menu.h"

#define EXPLORER_CHANGE_WIDTH 9
#define EXPLORER_MORE_FIELDS  3 /* columns that can be had beside those of the report */

enum explorer_mode {
	EXPLORER_TABLE,
	EXPLORER_HELP,
	EXPLORER_MENU,
	EXPLORER_ASK_SYMBOL,
	EXPLORER_ASK_LIMIT,
	EXPLORER_ASK_SEARCH,
	EXPLORER_ASK_SORT
};
/* ZOOM_SYMBOL: rows with a text in the symbol's name; ZOOM_FUNCTION: those of one function. */
enum explorer_zoom { ZOOM_THREAD, ZOOM_DSO, ZOOM_SYMBOL, ZOOM_FUNCTION, ZOOM_KERNEL, ZOOM_SOCKET, ZOOM_COUNT };

struct explorer_position {
	size_t row, line; /* of visible; 0: the row itself, else its chain lines from 1 */
};

struct explorer_field {
	enum profile_key key;
	bool is_shown;
};

struct explorer {
	const struct flat_table *table;
	struct report_text_options options;
	struct report_layout layout;
	const char *title;
	const char *absent_keys; /* that do nothing on the caller's screen, which its menu leaves out; NULL: none */
	const struct tui_help *help; /* NULL: explorer_help's */
	size_t help_count;
	unsigned rows, columns; /* of the screen */
	bool hides_headers;
	bool is_symbol_first; /* of the keys: the screen is too narrow for those before it */
	enum explorer_mode mode;
	size_t help_top;
	struct tui_input input;
	struct tui_menu menu;
	char pattern[TUI_INPUT_BYTES]; /* of the last search */
	enum profile_key order; /* the column by which the caller must sort */
	uint32_t order_member; /* and whose values decide, of a group */
	struct explorer_field fields[REPORT_MAX_COLUMNS + EXPLORER_MORE_FIELDS]; /* columns, in their order */
	size_t field_count;
	enum profile_key columns_shown[REPORT_MAX_COLUMNS];
	char message[TUI_MESSAGE_BYTES]; /* on the bottom line until the next key; empty: none */

	/* The active zooms, in the order in which the user chose them. */
	enum explorer_zoom zooms[ZOOM_COUNT];
	unsigned zoom_count;
	uint32_t zoom_thread, zoom_binary, zoom_function;
	uint64_t zoom_socket;
	char zoom_symbol[TUI_INPUT_BYTES];
	double percent_limit;
	bool is_relative; /* percentages are of what is shown */
	uint64_t *shown_totals; /* by member: that */

	const struct explorer_mark *mark; /* only what changed since shows; NULL: all does */
	double *changes; /* by table row, in points of percent; NULL: not compared yet */

	uint32_t *visible; /* rows of the table */
	size_t visible_count;
	struct explorer_position cursor, top;
	unsigned shift; /* columns scrolled out to the left */

	struct call_tree_builder builder;
	VEC(struct explorer_fold) folds;
	struct map_u64 fold_of_row;
	bool shows_objects; /* of the frames of chains */
	bool are_all_open; /* also those that were not in view yet */
	bool failed; /* memory runs out */
};

bool explorer_is_zoomed(const struct explorer *e, enum explorer_zoom zoom);
bool explorer_is_grouped_by(const struct explorer *e, enum profile_key key);
/* The period of a row. */
uint64_t explorer_row_period(const struct explorer *e, uint32_t table_row);
/* Whether keys before the symbol leave room for it. Once they have not, this stays until the width of the screen or the
 * columns change, so that a refreshed table does not move to and fro. */
void explorer_place_symbol(struct explorer *e);
void explorer_say(struct explorer *e, const char *format, ...) TALLY_PRINTF(2, 3);

#endif
