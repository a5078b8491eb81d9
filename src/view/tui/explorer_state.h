/*
 * explorer_state.h - what the interactive report shows of one table: rows, chains, filters, cursor. No keys, no drawing.
 *
 * Borrows table, title and the arrays of its options; the struct must stay where it is, and the caller deinits. Lines
 * are rows and the chain lines under those that are open. Chains are built when they come into view, so a table of a
 * million rows costs what is looked at. Failures stick in `failed`.
 *
 *	struct explorer e;
 *	explorer_init(&e, &table, &options, "Samples: 339  of event 'cycles'", err);
 *	explorer_resize(&e, 24, 80);
 *	explorer_toggle(&e);
 *	explorer_deinit(&e);
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

#define EXPLORER_MORE_FIELDS 3 /* columns that can be had beside those of the report */

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
enum explorer_zoom { ZOOM_THREAD, ZOOM_DSO, ZOOM_SYMBOL, ZOOM_FUNCTION, ZOOM_KERNEL, ZOOM_COUNT };

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
	const struct tui_help *help; /* NULL: explorer_help's */
	size_t help_count;
	unsigned rows, columns; /* of the screen */
	bool hides_headers;
	enum explorer_mode mode;
	size_t help_top;
	struct tui_input input;
	struct tui_menu menu;
	char pattern[TUI_INPUT_BYTES]; /* of the last search */
	enum profile_key order; /* what the caller is asked to sort by */
	struct explorer_field fields[REPORT_MAX_COLUMNS + EXPLORER_MORE_FIELDS]; /* columns, in their order */
	size_t field_count;
	enum profile_key columns_shown[REPORT_MAX_COLUMNS];
	char message[TUI_MESSAGE_BYTES]; /* on the bottom line until the next key; empty: none */

	/* What is looked at, in the order in which it was asked for. */
	enum explorer_zoom zooms[ZOOM_COUNT];
	unsigned zoom_count;
	uint32_t zoom_thread, zoom_binary, zoom_function;
	char zoom_symbol[TUI_INPUT_BYTES];
	double percent_limit;
	bool is_relative; /* percentages are of what is shown */
	uint64_t *shown_totals; /* by member: that */

	uint32_t *visible; /* rows of the table */
	size_t visible_count;
	struct explorer_position cursor, top;
	unsigned shift; /* columns scrolled out to the left */

	struct call_tree_builder builder;
	VEC(struct explorer_fold) folds;
	struct map_u64 fold_of_row;
	bool are_all_open; /* also those that were not in view yet */
	bool failed; /* memory is out */
};

TALLY_MUST_CHECK enum tally_status explorer_init(struct explorer *e, const struct flat_table *table,
	const struct report_text_options *options, const char *title, struct tally_error *err);
void explorer_deinit(struct explorer *e);

void explorer_resize(struct explorer *e, unsigned rows, unsigned columns);
/* Lines of the table that fit on the screen. */
unsigned explorer_page(const struct explorer *e);
void explorer_move(struct explorer *e, long lines);
/* The cursor to what is in this row of the screen; false: no line of the table is. */
bool explorer_click(struct explorer *e, unsigned screen_row);
void explorer_home(struct explorer *e);
void explorer_end(struct explorer *e);
/* Opens or closes one level: the row, or what is below the chain line. */
void explorer_toggle(struct explorer *e);
/* Whether that would do anything. */
bool explorer_can_toggle(const struct explorer *e);
/* All of the row. */
void explorer_toggle_row(struct explorer *e);
void explorer_close_row(struct explorer *e);
void explorer_set_all(struct explorer *e, bool is_open);
/* Rows of the cursor's thread, or object, only; again: all. */
void explorer_zoom_thread(struct explorer *e);
void explorer_zoom_dso(struct explorer *e);
void explorer_zoom_function(struct explorer *e);
void explorer_zoom_kernel(struct explorer *e);
/* Rows whose symbol has this in it; empty: all. */
void explorer_zoom_symbol(struct explorer *e, const char *part);
/* Takes back the last of them. False: there is none. */
bool explorer_zoom_out(struct explorer *e);
void explorer_set_percent_limit(struct explorer *e, double percent);
/* Of percentages that people use: to the next higher one, or lower. */
void explorer_step_percent_limit(struct explorer *e, bool is_up);
void explorer_switch_relative(struct explorer *e);
/* Shows the column, or no longer; the last one stays. */
void explorer_switch_field(struct explorer *e, enum profile_key key);
/* After the table was sorted anew: the cursor stays on its row. */
void explorer_reorder(struct explorer *e);
/* To the next row with the pattern in the name of its symbol, object or thread. */
void explorer_search(struct explorer *e, bool is_back);
void explorer_say(struct explorer *e, const char *format, ...) TALLY_PRINTF(2, 3);

bool explorer_is_zoomed(const struct explorer *e, enum explorer_zoom zoom);
/* False at the end. */
bool explorer_next_line(struct explorer *e, struct explorer_position *position);
/* The function that the cursor is on, a row's or a caller; PROFILE_NONE: it is on no single one. */
uint32_t explorer_cursor_function(const struct explorer *e, struct tally_str *name);
/* The same, and says why there is none. */
uint32_t explorer_function(struct explorer *e);
/* What explorer_zoom_thread and _dso would zoom into. False: nothing. */
bool explorer_cursor_thread(const struct explorer *e, struct tally_str *name);
bool explorer_cursor_object(const struct explorer *e, struct tally_str *name);
/* NULL: the row shows no chains. Of rows that were in view. */
const struct explorer_fold *explorer_fold_at(const struct explorer *e, size_t row);
bool explorer_has_chains(const struct explorer *e, uint32_t table_row);
/* For explorer_renew: another table and profile, whose rows are to be selected then; rows as they are filtered; an open row's chains (NULL: memory is out), and the cursor so many lines
 * from the top of the screen. */
TALLY_MUST_CHECK enum tally_status explorer_set_table(
	struct explorer *e, const struct flat_table *table, const char *title, struct tally_error *err);
void explorer_select_rows(struct explorer *e);
struct explorer_fold *explorer_open_row(struct explorer *e, uint32_t table_row);
void explorer_place(struct explorer *e, size_t above);
/* What a row stands for. */
uint64_t explorer_row_period(const struct explorer *e, uint32_t table_row);

#endif
