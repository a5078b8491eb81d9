/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/top/top_explore.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "tasks/terminal/tui_print.h"
#include "verbs/top/top_screens.h"

#define ABSENT_KEYS "siW" /* Keys of the explorer that need a recording, or more sample data than is retained. */

static enum tally_status top_explore_zero(struct top_state *x, struct tally_error *err)
{
	struct top_settings *s = x->view->settings;
	(void)err;
	s->zeroes = !s->zeroes;
	explorer_say(&x->shown.explorer, s->zeroes ? "each refresh starts from nothing" : "old samples fade");
	return TALLY_OK;
}

static enum tally_status top_explore_search(struct top_state *x, struct tally_error *err)
{
	(void)err;
	/* In the explorer, f starts a search; top uses this key to freeze. */
	(void)explorer_key(&x->shown.explorer, 'f');
	return TALLY_OK;
}

/* Keys that only top has, with their descriptions for the help screen. */
static const struct top_explore_key {
	const char *key; /* A single character. */
	enum tally_status (*act)(struct top_state *x, struct tally_error *err);
	const char *what;
} own_keys[] = {
	{"f", top_state_freeze, "freeze: take no more samples, or go on"},
	{"z", top_explore_zero, "start from nothing at each refresh, or let samples fade"},
	{"Z", top_state_forget, "forget all samples up to now"},
	{"D", top_state_switch_mark, "from now on only what changes, and by how much; again: all"},
	{"S", top_explore_search, "search a text"},
};

/* Handles a key of own_keys. Returns false if it is none, or if the explorer does not show the table. */
static bool top_explore_own_key(struct top_state *x, uint32_t key, enum tally_status *status, struct tally_error *err)
{
	if (x->shown.explorer.mode != EXPLORER_TABLE)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(own_keys); i++)
		if (key == (uint32_t)own_keys[i].key[0]) {
			*status = own_keys[i].act(x, err);
			return true;
		}
	return false;
}

static enum tally_status top_explore_take_key(struct top_state *x, uint32_t key, struct tally_error *err)
{
	struct explorer *e = &x->shown.explorer;
	enum tally_status status = TALLY_OK;
	x->says_first = false;
	if (key == TUI_KEY_CTRL('l'))
		tui_terminal_redraw(x->terminal);
	if (top_explore_own_key(x, key, &status, err))
		return status;
	enum explorer_action action = explorer_key(e, key);
	if (action == EXPLORER_QUIT)
		x->leaves = true;
	else if (action == EXPLORER_NEXT_EVENT)
		status = top_state_switch_event(x, 1, err);
	else if (action == EXPLORER_PREVIOUS_EVENT)
		status = top_state_switch_event(x, x->view->count - 1, err);
	else if (action == EXPLORER_PRINT)
		tui_print_table(e);
	else if (action == EXPLORER_ORDER)
		status = top_state_reorder(x, err);
	else if (action == EXPLORER_SORT) /* Other keys may need more sample data than is retained. */
		explorer_say(e, "rows by other keys: leave, and tally top -s %.100s", e->input.text);
	else if (action != EXPLORER_STAY)
		status = top_screens_show(x, action, err);
	return status;
}

static enum tally_status top_explore_run(struct top_state *x, struct tally_error *err)
{
	enum tally_status status = top_state_draw(x, err);
	if (status == TALLY_OK && x->view->settings->report.rows.is_hierarchy)
		status = top_screens_show_levels(x, err);
	if (status == TALLY_OK && !x->leaves)
		status = top_state_draw(x, err);
	while (status == TALLY_OK && !x->leaves) {
		uint32_t key = top_state_wait(x);
		if (x->leaves)
			break;
		status = key == TUI_KEY_NONE ? top_state_take_time(x, err) : top_explore_take_key(x, key, err);
		if (status == TALLY_OK && x->wants_code && x->changes)
			status = top_screens_show_asked(x, err);
		if (status == TALLY_OK)
			status = top_state_draw(x, err);
	}
	return status;
}

/* Lists top's own keys, followed by those of the explorer that top neither replaces nor excludes. */
static bool make_help(struct top_state *x)
{
	char others[ARRAY_LEN(own_keys) + sizeof(ABSENT_KEYS)] = ABSENT_KEYS;
	size_t count;
	(void)explorer_help(&count);
	x->help = malloc((count + ARRAY_LEN(own_keys) + 1) * sizeof(*x->help));
	if (!x->help)
		return false;
	x->help[x->help_count++] = (struct tui_help){NULL, "What comes in"};
	for (size_t i = 0; i < ARRAY_LEN(own_keys); i++) {
		others[sizeof(ABSENT_KEYS) - 1 + i] = own_keys[i].key[0];
		x->help[x->help_count++] = (struct tui_help){own_keys[i].key, own_keys[i].what};
	}
	x->help_count += explorer_help_without(others, x->help + x->help_count);
	return true;
}

enum tally_status top_explore(struct top_view *view, struct diag *notes, int signal_fd, struct tally_error *err)
{
	struct top_state x = {.view = view,
		.signal_fd = signal_fd,
		.absent_keys = ABSENT_KEYS,
		.wants_code = view->settings->sym_annotate != NULL,
		.due_ms = clock_ms() + (int64_t)view->settings->delay_s * 1000};
	x.code = top_screens_code(&x);
	if (!make_help(&x))
		return error_nomem(err);
	enum tally_status status = top_state_open(&x, err);
	if (status == TALLY_OK) {
		/* The last note is shown in the bottom line until a key is pressed; all notes are printed at the end. */
		if (notes->len)
			explorer_say(&x.shown.explorer, "%s", notes->entries[notes->len - 1].text);
		else
			explorer_say(&x.shown.explorer, "the first samples come in %llu s",
				(unsigned long long)view->settings->delay_s);
		x.says_first = notes->len == 0;
		status = tui_terminal_open(&x.terminal, err);
	}
	if (status == TALLY_OK) {
		status = top_explore_run(&x, err);
		tui_terminal_close(x.terminal);
	}
	top_state_deinit(&x);
	free(x.help);
	return status;
}
