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

enum explorer_mode { EXPLORER_TABLE, EXPLORER_HELP, EXPLORER_ASK_SYMBOL, EXPLORER_ASK_LIMIT };
enum explorer_zoom { ZOOM_THREAD, ZOOM_DSO, ZOOM_SYMBOL, ZOOM_COUNT };

struct explorer_position {
	size_t row, line; /* of visible; 0: the row itself, else its chain lines from 1 */
};

struct explorer {
	const struct flat_table *table;
	struct report_text_options options;
	struct report_layout layout;
	const char *title;
	unsigned rows, columns; /* of the screen */
	bool hides_headers;
	enum explorer_mode mode;
	size_t help_top;
	struct tui_input input;
	char message[TUI_MESSAGE_BYTES]; /* on the bottom line until the next key; empty: none */

	/* What is looked at, in the order in which it was asked for. */
	enum explorer_zoom zooms[ZOOM_COUNT];
	unsigned zoom_count;
	uint32_t zoom_thread, zoom_binary;
	char zoom_symbol[TUI_INPUT_BYTES];
	double percent_limit;

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
void explorer_home(struct explorer *e);
void explorer_end(struct explorer *e);
/* Opens or closes one level: the row, or what is below the chain line. */
void explorer_toggle(struct explorer *e);
/* All of the row. */
void explorer_toggle_row(struct explorer *e);
void explorer_close_row(struct explorer *e);
void explorer_set_all(struct explorer *e, bool is_open);
/* Rows of the cursor's thread, or object, only; again: all. */
void explorer_zoom_thread(struct explorer *e);
void explorer_zoom_dso(struct explorer *e);
/* Rows whose symbol has this in it; empty: all. */
void explorer_zoom_symbol(struct explorer *e, const char *part);
/* Takes back the last of them. False: there is none. */
bool explorer_zoom_out(struct explorer *e);
void explorer_set_percent_limit(struct explorer *e, double percent);
void explorer_say(struct explorer *e, const char *format, ...) TALLY_PRINTF(2, 3);

bool explorer_is_zoomed(const struct explorer *e, enum explorer_zoom zoom);
/* False at the end. */
bool explorer_next_line(struct explorer *e, struct explorer_position *position);
/* What the cursor is on: of the profile; PROFILE_NONE, and that was said: no single function. */
uint32_t explorer_function(struct explorer *e);
/* NULL: the row shows no chains. Of rows that were in view. */
const struct explorer_fold *explorer_fold_at(const struct explorer *e, size_t row);
bool explorer_has_chains(const struct explorer *e, uint32_t table_row);
/* What a row stands for. */
uint64_t explorer_row_period(const struct explorer *e, uint32_t table_row);

#endif
