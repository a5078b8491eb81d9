/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explorer_state.h - holds the state of the interactive report for one table: rows, chains, filters, cursor.
 * explorer_table.h creates it, explorer_lines.h handles lines and the cursor, and explorer_rows.h selects the rows.
 * Keys and drawing are elsewhere.
 *
 * It borrows the table, the title and the arrays of its options; the struct must not be moved. Failures are sticky in
 * `failed`.
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
#define EXPLORER_MORE_FIELDS  3 /* Number of available columns in addition to those of the report. */

enum explorer_mode {
	EXPLORER_TABLE,
	EXPLORER_HELP,
	EXPLORER_MENU,
	EXPLORER_ASK_SYMBOL,
	EXPLORER_ASK_LIMIT,
	EXPLORER_ASK_SEARCH,
	EXPLORER_ASK_SORT
};
/* ZOOM_SYMBOL selects rows with a text in the symbol's name, ZOOM_FUNCTION those of one function. */
enum explorer_zoom { ZOOM_THREAD, ZOOM_DSO, ZOOM_SYMBOL, ZOOM_FUNCTION, ZOOM_KERNEL, ZOOM_SOCKET, ZOOM_COUNT };

struct explorer_position {
	/* row is an index in visible; line is 0 for the row itself and otherwise the number of a line of its chains. */
	size_t row, line;
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
	/* Keys that have no effect on the caller's screen and are left out of the menu; NULL for none. */
	const char *absent_keys;
	const struct tui_help *help; /* NULL for that of explorer_help. */
	size_t help_count;
	unsigned rows, columns; /* Size of the screen. */
	bool hides_headers;
	bool is_symbol_first; /* The screen is too narrow for the keys before the symbol, so the symbol comes first. */
	enum explorer_mode mode;
	size_t help_top;
	struct tui_input input;
	struct tui_menu menu;
	char pattern[TUI_INPUT_BYTES]; /* Pattern of the last search. */
	enum profile_key order; /* Column by which the caller must sort. */
	uint32_t order_member; /* Member of a group by which the caller must sort. */
	struct explorer_field fields[REPORT_MAX_COLUMNS + EXPLORER_MORE_FIELDS]; /* All columns in their order. */
	size_t field_count;
	enum profile_key columns_shown[REPORT_MAX_COLUMNS];
	char message[TUI_MESSAGE_BYTES]; /* Displayed on the bottom line until the next key; empty for none. */

	/* The active zooms, in the order in which the user chose them. */
	enum explorer_zoom zooms[ZOOM_COUNT];
	unsigned zoom_count;
	uint32_t zoom_thread, zoom_binary, zoom_function;
	uint64_t zoom_socket;
	char zoom_symbol[TUI_INPUT_BYTES];
	double percent_limit;
	bool is_relative; /* Percentages are relative to the displayed rows. */
	uint64_t *shown_totals; /* Total of the displayed rows, indexed by member. */

	const struct explorer_mark *mark; /* Only rows that changed since this mark are displayed; NULL if all are. */
	double *changes; /* Indexed by table row, in percentage points; NULL if not computed yet. */

	uint32_t *visible; /* Visible rows of the table. */
	size_t visible_count;
	struct explorer_position cursor, top;
	unsigned shift; /* Number of columns scrolled out to the left. */

	struct call_tree_builder builder;
	VEC(struct explorer_fold) folds;
	struct map_u64 fold_of_row;
	bool shows_objects; /* Display the objects of frames in chains. */
	bool are_all_open; /* All rows are open, including those that have not been in view yet. */
	bool failed; /* Memory ran out. */
};

bool explorer_is_zoomed(const struct explorer *e, enum explorer_zoom zoom);
bool explorer_is_grouped_by(const struct explorer *e, enum profile_key key);
uint64_t explorer_row_period(const struct explorer *e, uint32_t table_row);
/* Decides whether the keys before the symbol leave space for it. If not, is_symbol_first stays set until the width of
 * the screen or the columns change, so that a refreshed table does not alternate. */
void explorer_place_symbol(struct explorer *e);
void explorer_say(struct explorer *e, const char *format, ...) TALLY_PRINTF(2, 3);

#endif
