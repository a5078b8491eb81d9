/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_state.h - holds what top's screens show: the profile, the current table, and the time of the next refresh. The
 * keys are in top_explore.c, code and trees in top_screens.h.
 *
 * One thread. The caller fills view, terminal, signal_fd and due_ms, and deinits after a successful open.
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

struct top_shown { /* of one event, or group */
	struct flat_table table;
	struct text title; /* ends in a 0 */
	struct report_text_options options;
	struct explorer explorer;
	bool is_open;
};

struct top_state {
	struct top_view *view;
	struct tui_terminal *terminal;
	struct grid grid;
	struct top_shown shown;
	struct tree_views trees; /* while one of them shows */
	struct tree_explore *tree; /* likewise */
	struct top_code code;
	const char *absent_keys; /* of the explorer's, without effect here */
	struct tui_help *help; /* the explorer's keys and ours */
	size_t help_count;
	int signal_fd;
	uint32_t current; /* table of view */
	int64_t due_ms;
	enum profile_key order; /* that was chosen */
	uint32_t order_member; /* of a group */
	bool has_order, is_frozen, leaves, is_woken;
	bool says_first; /* when the first samples come, until they do */
	bool wants_code; /* of --sym-annotate, as soon as it has samples */
	uint64_t changes; /* of the profile */
	struct explorer_mark mark; /* what changes are shown since */
	bool has_mark;
};

TALLY_MUST_CHECK enum tally_status top_state_open(struct top_state *x, struct tally_error *err);
void top_state_deinit(struct top_state *x);
TALLY_MUST_CHECK enum tally_status top_state_draw(struct top_state *x, struct tally_error *err);
/* Waits for a key; TUI_KEY_NONE: something else is due. */
uint32_t top_state_wait(struct top_state *x);
/* Refreshes, if that is due. changes tells whether the profile is another one afterwards. */
TALLY_MUST_CHECK enum tally_status top_state_take_time(struct top_state *x, struct tally_error *err);

TALLY_MUST_CHECK enum tally_status top_state_switch_event(struct top_state *x, uint32_t step, struct tally_error *err);
/* Pauses or continues sampling. */
TALLY_MUST_CHECK enum tally_status top_state_freeze(struct top_state *x, struct tally_error *err);
/* Removes all samples up to now. */
TALLY_MUST_CHECK enum tally_status top_state_forget(struct top_state *x, struct tally_error *err);
/* Shows only changes from now on, or everything again. */
TALLY_MUST_CHECK enum tally_status top_state_switch_mark(struct top_state *x, struct tally_error *err);
/* By the column that the explorer was told. */
TALLY_MUST_CHECK enum tally_status top_state_reorder(struct top_state *x, struct tally_error *err);

#endif
