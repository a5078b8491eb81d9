/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/top/top_state.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "view/tui/explorer_draw.h"
#include "view/tui/explorer_lines.h"
#include "view/tui/explorer_rows.h"
#include "view/tui/explorer_table.h"

#define TOP_STATE_LOOK_MS 250 /* Maximum interval between checks of how full the profile is. */

static void top_state_drop_table(struct top_shown *shown)
{
	flat_table_deinit(&shown->table);
	text_deinit(&shown->title);
}

static enum tally_status top_state_make_table(struct top_state *x, struct top_shown *made, struct tally_error *err)
{
	*made = (struct top_shown){.options = report_tables_options(&x->view->plan)};
	enum tally_status status = top_view_table(x->view, x->current, &made->table, err);

	if (status == TALLY_OK && x->has_order) {
		status = report_tables_order(&made->table, &made->options, x->order, x->order_member, err);
		if (status != TALLY_OK)
			flat_table_deinit(&made->table);
	}
	if (status != TALLY_OK)
		return status;
	if (x->is_frozen)
		text_str(&made->title, "[frozen] ");
	top_view_title(x->view, x->current, &made->title);
	text_char(&made->title, 0);
	if (!made->title.failed)
		return TALLY_OK;
	top_state_drop_table(made);
	return error_nomem(err);
}

enum tally_status top_state_open(struct top_state *x, struct tally_error *err)
{
	struct top_shown *shown = &x->shown;
	enum tally_status status = top_state_make_table(x, shown, err);
	if (status != TALLY_OK)
		return status;
	status = explorer_init(&shown->explorer, &shown->table, &shown->options, shown->title.data, err);
	if (status != TALLY_OK) {
		top_state_drop_table(shown);
		return status;
	}
	shown->explorer.absent_keys = x->absent_keys;
	shown->explorer.help = x->help;
	shown->explorer.help_count = x->help_count;
	shown->is_open = true;
	return TALLY_OK;
}

static void close_table(struct top_state *x)
{
	if (!x->shown.is_open)
		return;
	explorer_deinit(&x->shown.explorer);
	top_state_drop_table(&x->shown);
	x->shown.is_open = false;
}

/* Replaces the displayed profile by the one that the change produces. */
static enum tally_status change_profile(struct top_state *x,
	enum tally_status (*change)(struct top_state *x, struct tally_error *err), struct tally_error *err)
{
	struct explorer_memory memory;
	struct top_shown fresh;
	explorer_remember(&x->shown.explorer, &memory);
	top_state_drop_table(&x->shown);
	enum tally_status status = change(x, err);
	if (status == TALLY_OK)
		status = top_view_renew(x->view, err);
	if (status == TALLY_OK)
		status = top_state_make_table(x, &fresh, err);
	if (status != TALLY_OK) {
		explorer_deinit(&x->shown.explorer);
		x->shown.is_open = false;
	} else {
		x->shown.table = fresh.table;
		x->shown.title = fresh.title;
		x->changes++;
		status = explorer_renew(&x->shown.explorer, &memory, &x->shown.table, x->shown.title.data, err);
	}
	explorer_memory_deinit(&memory);
	return status;
}

static enum tally_status top_state_refresh(struct top_state *x, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	if (x->view->settings->zeroes && !x->is_frozen)
		status = live_session_zero(x->view->session, err);
	return status == TALLY_OK ? live_session_refresh(x->view->session, !x->is_frozen, err) : status;
}

static enum tally_status top_state_relieve(struct top_state *x, struct tally_error *err)
{
	return live_session_relieve(x->view->session, err);
}

static enum tally_status top_state_drop_samples(struct top_state *x, struct tally_error *err)
{
	return live_session_zero(x->view->session, err);
}

enum tally_status top_state_draw(struct top_state *x, struct tally_error *err)
{
	struct explorer *e = &x->shown.explorer;
	char events[32] = "";
	unsigned rows, columns;
	tui_terminal_size(x->terminal, &rows, &columns);
	explorer_resize(e, rows, columns);
	if (x->view->count > 1)
		snprintf(events, sizeof(events), "%u/%u", x->current + 1, x->view->count);
	if (e->failed || !explorer_draw(e, events, &x->grid))
		return error_nomem(err);
	tui_terminal_show(x->terminal, &x->grid);
	return TALLY_OK;
}

uint32_t top_state_wait(struct top_state *x)
{
	struct pollfd inputs[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = x->signal_fd, .events = POLLIN}};
	int64_t left = x->due_ms - clock_ms();
	uint32_t key = tui_terminal_key_now(x->terminal); /* A key may have been read already. */
	x->is_woken = false;
	if (key != TUI_KEY_NONE || left <= 0)
		return key;
	int n = poll(inputs, 2, (int)(MIN(left, TOP_STATE_LOOK_MS)));
	x->is_woken = n != 0;
	x->leaves |= n > 0 ? inputs[1].revents != 0 : n < 0 && errno != EINTR;
	return n == 0 ? TUI_KEY_NONE : tui_terminal_key_now(x->terminal);
}

static void drop_mark(struct top_state *x)
{
	if (x->has_mark)
		explorer_mark_deinit(&x->mark);
	x->has_mark = false;
}

enum tally_status top_state_switch_event(struct top_state *x, uint32_t step, struct tally_error *err)
{
	if (x->view->count < 2) {
		explorer_say(&x->shown.explorer, "there is one event");
		return TALLY_OK;
	}
	close_table(x);
	drop_mark(x); /* Shares of another event cannot be compared with the mark. */
	x->order_member = 0; /* Members of another group have other indices. */
	x->current = (x->current + step) % x->view->count;
	return top_state_open(x, err);
}

enum tally_status top_state_freeze(struct top_state *x, struct tally_error *err)
{
	enum tally_status status = live_session_pause(x->view->session, !x->is_frozen, err);
	if (status != TALLY_OK)
		return status;
	x->is_frozen = !x->is_frozen;
	explorer_say(&x->shown.explorer,
		x->is_frozen ? "frozen: no more samples are taken until f" : "samples are taken again");
	return change_profile(x, top_state_refresh, err);
}

enum tally_status top_state_switch_mark(struct top_state *x, struct tally_error *err)
{
	struct explorer *e = &x->shown.explorer;
	time_t now = time(NULL);
	struct tm local;
	char when[sizeof(x->mark.when)] = "";
	if (x->has_mark) {
		explorer_set_mark(e, NULL);
		drop_mark(x);
		explorer_say(e, "all rows");
		return TALLY_OK;
	}
	if (localtime_r(&now, &local))
		(void)strftime(when, sizeof(when), "%H:%M:%S", &local);
	x->has_mark = true;
	if (!explorer_mark_take(&x->mark, e, when))
		return error_nomem(err);
	explorer_set_mark(e, &x->mark);
	explorer_say(e, "rows whose share changes by %.1f points or more: D shows all again", EXPLORER_LEAST_CHANGE);
	return TALLY_OK;
}

enum tally_status top_state_reorder(struct top_state *x, struct tally_error *err)
{
	struct top_shown *shown = &x->shown;
	x->order = shown->explorer.order;
	x->order_member = shown->explorer.order_member;
	x->has_order = true;
	enum tally_status status = report_tables_order(&shown->table, &shown->options, x->order, x->order_member, err);
	if (status == TALLY_OK)
		explorer_select_rows(&shown->explorer);
	return status;
}

enum tally_status top_state_take_time(struct top_state *x, struct tally_error *err)
{
	int64_t delay_ms = (int64_t)x->view->settings->delay_s * 1000, now = clock_ms();
	if (now < x->due_ms)
		return live_session_is_full(x->view->session) ? change_profile(x, top_state_relieve, err) : TALLY_OK;
	x->due_ms += delay_ms;
	if (x->due_ms < now) /* The process was stopped for a while; the missed refreshes are skipped. */
		x->due_ms = now + delay_ms;
	if (x->says_first)
		x->shown.explorer.message[0] = '\0';
	x->says_first = false;
	if (live_session_is_over(x->view->session))
		explorer_say(&x->shown.explorer, "what was watched has ended: q leaves");
	enum tally_status status = change_profile(x, top_state_refresh, err);
	const char *doubt = status == TALLY_OK && !x->shown.explorer.message[0] ? top_view_doubt(x->view) : NULL;
	if (doubt)
		explorer_say(&x->shown.explorer, "%s", doubt);
	return status;
}

enum tally_status top_state_forget(struct top_state *x, struct tally_error *err)
{
	explorer_say(&x->shown.explorer, "what came up to now is forgotten");
	return change_profile(x, top_state_drop_samples, err);
}

void top_state_deinit(struct top_state *x)
{
	close_table(x);
	drop_mark(x);
	grid_deinit(&x->grid);
}
