/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_state.h - holds the state of top's screens: the profile, the current table, and the time of the next refresh.
 * top_explore.c handles the keys, top_screens.h shows code and trees.
 *
 * The caller sets view, terminal, signal_fd and due_ms, and deinitialises after a successful open. Not thread-safe.
 *
 *	top_state_open(&x, err);
 *	while (top_state_draw(&x, err) == TALLY_OK && !x.leaves)
 *		if (top_state_wait(&x) == TUI_KEY_NONE) top_state_take_time(&x, err);
 *	top_state_deinit(&x);
 */
#ifndef VERBS_TOP_TOP_STATE_H
#define VERBS_TOP_TOP_STATE_H

#include "tasks/terminal/tree_explore.h"
#include "tasks/terminal/tui_terminal.h"
#include "verbs/top/top_code.h"
#include "view/tui/explorer_changes.h"
#include "view/tui/explorer_renew.h"

struct top_shown { /* The table of one event or group on the screen. */
	struct flat_table table;
	struct text title; /* Terminated by NUL. */
	struct report_text_options options;
	struct explorer explorer;
	bool is_open;
};

struct top_state {
	struct top_view *view;
	struct tui_terminal *terminal;
	struct grid grid;
	struct top_shown shown;
	struct tree_views trees; /* Valid while a tree is displayed. */
	struct tree_explore *tree; /* NULL unless a tree is displayed. */
	struct top_code code;
	const char *absent_keys; /* Keys of the explorer that have no effect in top. */
	struct tui_help *help; /* The explorer's keys and those of top. */
	size_t help_count;
	int signal_fd;
	uint32_t current; /* Index of the view's tables. */
	int64_t due_ms; /* Time (clock_ms) of the next refresh. */
	enum profile_key order; /* The sort column that the user has selected; valid if has_order is set. */
	uint32_t order_member; /* Index of the group member by which rows are sorted. */
	bool has_order, is_frozen, leaves, is_woken;
	bool says_first; /* The screen announces when the first samples will arrive. */
	bool wants_code; /* Shows the function of --sym-annotate as soon as it has samples. */
	uint64_t changes; /* Number of changes of the profile. */
	struct explorer_mark mark; /* The profile with which changes are compared; valid if has_mark is set. */
	bool has_mark;
};

TALLY_MUST_CHECK enum tally_status top_state_open(struct top_state *x, struct tally_error *err);
void top_state_deinit(struct top_state *x);
TALLY_MUST_CHECK enum tally_status top_state_draw(struct top_state *x, struct tally_error *err);
/* Waits for a key. Returns TUI_KEY_NONE if something else is due. */
uint32_t top_state_wait(struct top_state *x);
/* Refreshes the profile if that is due. Increases the member changes if the profile has changed. */
TALLY_MUST_CHECK enum tally_status top_state_take_time(struct top_state *x, struct tally_error *err);

TALLY_MUST_CHECK enum tally_status top_state_switch_event(struct top_state *x, uint32_t step, struct tally_error *err);
/* Pauses or continues sampling. */
TALLY_MUST_CHECK enum tally_status top_state_freeze(struct top_state *x, struct tally_error *err);
/* Removes all samples collected so far. */
TALLY_MUST_CHECK enum tally_status top_state_forget(struct top_state *x, struct tally_error *err);
/* Switches between showing only changes from now on and showing everything. */
TALLY_MUST_CHECK enum tally_status top_state_switch_mark(struct top_state *x, struct tally_error *err);
/* Sorts by the column that was selected in the explorer. */
TALLY_MUST_CHECK enum tally_status top_state_reorder(struct top_state *x, struct tally_error *err);

#endif
