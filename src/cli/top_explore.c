#include "cli/top_explore.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/tui_print.h"
#include "cli/tui_terminal.h"
#include "view/tui/explorer_draw.h"
#include "view/tui/explorer_lines.h"
#include "view/tui/explorer_renew.h"
#include "view/tui/explorer_rows.h"
#include "view/tui/explorer_table.h"

#define LOOK_MS 250 /* how often it is looked at how much has come in */

struct shown { /* of one event, or group */
	struct flat_table table;
	struct text title; /* ends in a 0 */
	struct report_text_options options;
	struct explorer explorer;
	bool is_open;
};

struct exploring {
	struct top_view *view;
	struct tui_terminal *terminal;
	struct grid grid;
	struct shown shown;
	struct tui_help *help; /* the explorer's keys and ours */
	size_t help_count;
	int signal_fd;
	uint32_t current; /* table of view */
	int64_t due_ms;
	enum profile_key order; /* that was chosen */
	bool has_order, is_frozen, leaves;
};

static const struct tui_help own_help[] = {
	{NULL, "What comes in"},
	{"f", "freeze: take no more samples, or go on"},
	{"z", "start from nothing at each refresh, or let samples fade"},
	{"Z", "forget all samples up to now"},
	{"S", "search a text (n N: the next, the one before)"},
};

#define OWN_HELP (sizeof(own_help) / sizeof(own_help[0]))

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void drop_table(struct shown *shown)
{
	flat_table_deinit(&shown->table);
	text_deinit(&shown->title);
}

/* By one column, and where that is equal by the others. */
static enum tally_status sort_table(const struct exploring *x, struct shown *shown, struct tally_error *err)
{
	const struct report_text_options *o = &shown->options;
	enum profile_key columns[REPORT_MAX_COLUMNS];
	size_t count = 0;

	columns[count++] = x->order;
	for (size_t i = 0; i < o->column_count && count < REPORT_MAX_COLUMNS; i++)
		if (o->columns[i] != x->order)
			columns[count++] = o->columns[i];
	return flat_table_sort(&shown->table, columns, count, err);
}

static enum tally_status make_table(struct exploring *x, struct shown *made, struct tally_error *err)
{
	*made = (struct shown){.options = report_tables_options(&x->view->settings->report)};
	enum tally_status st = top_view_table(x->view, x->current, &made->table, err);

	if (st == TALLY_OK && x->has_order) {
		st = sort_table(x, made, err);
		if (st != TALLY_OK)
			flat_table_deinit(&made->table);
	}
	if (st != TALLY_OK)
		return st;
	if (x->is_frozen)
		text_str(&made->title, "[frozen] ");
	top_view_title(x->view, x->current, &made->title);
	text_char(&made->title, 0);
	if (!made->title.failed)
		return TALLY_OK;
	drop_table(made);
	return error_nomem(err);
}

static enum tally_status open_table(struct exploring *x, struct tally_error *err)
{
	struct shown *shown = &x->shown;
	enum tally_status st = make_table(x, shown, err);

	if (st != TALLY_OK)
		return st;
	st = explorer_init(&shown->explorer, &shown->table, &shown->options, shown->title.data, err);
	if (st != TALLY_OK) {
		drop_table(shown);
		return st;
	}
	shown->explorer.help = x->help;
	shown->explorer.help_count = x->help_count;
	shown->is_open = true;
	return TALLY_OK;
}

static void close_table(struct exploring *x)
{
	if (!x->shown.is_open)
		return;
	explorer_deinit(&x->shown.explorer);
	drop_table(&x->shown);
	x->shown.is_open = false;
}

/* The profile that is shown goes, for the one that the change leaves. */
static enum tally_status change_profile(struct exploring *x,
	enum tally_status (*change)(struct exploring *x, struct tally_error *err), struct tally_error *err)
{
	struct explorer_memory memory;
	struct shown fresh;

	explorer_remember(&x->shown.explorer, &memory);
	drop_table(&x->shown);
	enum tally_status st = change(x, err);
	if (st == TALLY_OK)
		st = top_view_renew(x->view, err);
	if (st == TALLY_OK)
		st = make_table(x, &fresh, err);
	if (st != TALLY_OK) {
		explorer_deinit(&x->shown.explorer);
		x->shown.is_open = false;
	} else {
		x->shown.table = fresh.table;
		x->shown.title = fresh.title;
		st = explorer_renew(&x->shown.explorer, &memory, &x->shown.table, x->shown.title.data, err);
	}
	explorer_memory_deinit(&memory);
	return st;
}

static enum tally_status refresh(struct exploring *x, struct tally_error *err)
{
	enum tally_status st = TALLY_OK;

	if (x->view->settings->zeroes && !x->is_frozen)
		st = live_profile_zero(top_session_profile(x->view->session), err);
	return st == TALLY_OK ? top_session_refresh(x->view->session, !x->is_frozen, err) : st;
}

static enum tally_status relieve(struct exploring *x, struct tally_error *err)
{
	return top_session_relieve(x->view->session, err);
}

static enum tally_status forget(struct exploring *x, struct tally_error *err)
{
	return live_profile_zero(top_session_profile(x->view->session), err);
}

static enum tally_status draw(struct exploring *x, struct tally_error *err)
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

/* A key, or TUI_KEY_NONE when it is time for something else. */
static uint32_t wait_for_key(struct exploring *x)
{
	struct pollfd inputs[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = x->signal_fd, .events = POLLIN}};
	int64_t left = x->due_ms - now_ms();
	uint32_t key = tui_terminal_key_now(x->terminal); /* may have been read already */

	if (key != TUI_KEY_NONE || left <= 0)
		return key;
	int n = poll(inputs, 2, (int)(left < LOOK_MS ? left : LOOK_MS));
	x->leaves |= n > 0 && inputs[1].revents;
	return n == 0 ? TUI_KEY_NONE : tui_terminal_key_now(x->terminal);
}

static void print_rows(void *data, struct text *out)
{
	out->failed = explorer_print(data, out, NULL) != TALLY_OK || out->failed;
}

static void print_view(struct explorer *e)
{
	struct tui_printed printed = {.base = "perf.hist", .is_numbered = true, .print = print_rows, .data = e};

	tui_print(&printed, e->message, sizeof(e->message));
}

static enum tally_status switch_event(struct exploring *x, uint32_t step, struct tally_error *err)
{
	if (x->view->count < 2) {
		explorer_say(&x->shown.explorer, "there is one event");
		return TALLY_OK;
	}
	close_table(x);
	x->current = (x->current + step) % x->view->count;
	return open_table(x, err);
}

static enum tally_status freeze(struct exploring *x, struct tally_error *err)
{
	enum tally_status st = top_session_pause(x->view->session, !x->is_frozen, err);

	if (st != TALLY_OK)
		return st;
	x->is_frozen = !x->is_frozen;
	explorer_say(&x->shown.explorer,
		x->is_frozen ? "frozen: no more samples are taken until f" : "samples are taken again");
	return change_profile(x, refresh, err);
}

/* Keys that only top has; false: it is none of them. */
static bool own_key(struct exploring *x, uint32_t key, enum tally_status *st, struct tally_error *err)
{
	struct top_settings *s = x->view->settings;
	struct explorer *e = &x->shown.explorer;

	if (e->mode != EXPLORER_TABLE)
		return false;
	switch (key) {
	case 'f':
		*st = freeze(x, err);
		return true;
	case 'z':
		s->zeroes = !s->zeroes;
		explorer_say(e, s->zeroes ? "each refresh starts from nothing" : "old samples fade");
		return true;
	case 'Z':
		explorer_say(e, "what came up to now is forgotten");
		*st = change_profile(x, forget, err);
		return true;
	default:
		return false;
	}
}

static enum tally_status reorder(struct exploring *x, struct tally_error *err)
{
	x->order = x->shown.explorer.order;
	x->has_order = true;
	enum tally_status st = sort_table(x, &x->shown, err);
	if (st == TALLY_OK)
		explorer_select_rows(&x->shown.explorer);
	return st;
}

static enum tally_status take_key(struct exploring *x, uint32_t key, struct tally_error *err)
{
	struct explorer *e = &x->shown.explorer;
	enum tally_status st = TALLY_OK;

	if (key == TUI_KEY_CTRL('l'))
		tui_terminal_redraw(x->terminal);
	if (own_key(x, key, &st, err))
		return st;
	if (key == 'S' && e->mode == EXPLORER_TABLE)
		key = 'f'; /* which is ours */
	enum explorer_action action = explorer_key(e, key);
	if (action == EXPLORER_QUIT)
		x->leaves = true;
	else if (action == EXPLORER_NEXT_EVENT)
		st = switch_event(x, 1, err);
	else if (action == EXPLORER_PREVIOUS_EVENT)
		st = switch_event(x, x->view->count - 1, err);
	else if (action == EXPLORER_PRINT)
		print_view(e);
	else if (action == EXPLORER_ORDER)
		st = reorder(x, err);
	else if (action == EXPLORER_SORT) /* other keys may need more of the samples than was kept */
		explorer_say(e, "rows by other keys: leave, and tally top -s %.100s", e->input.text);
	else if (action != EXPLORER_STAY) /* code, header, other views */
		explorer_say(e, "recordings have that: tally record, then tally report");
	return st;
}

static enum tally_status take_time(struct exploring *x, struct tally_error *err)
{
	int64_t delay_ms = (int64_t)x->view->settings->delay_s * 1000, now = now_ms();

	if (now < x->due_ms)
		return top_session_is_full(x->view->session) ? change_profile(x, relieve, err) : TALLY_OK;
	x->due_ms += delay_ms;
	if (x->due_ms < now) /* stopped for a while: no need to make up for it */
		x->due_ms = now + delay_ms;
	if (top_session_is_over(x->view->session))
		explorer_say(&x->shown.explorer, "what was watched has ended: q leaves");
	return change_profile(x, refresh, err);
}

static enum tally_status run(struct exploring *x, struct tally_error *err)
{
	enum tally_status st = draw(x, err);

	while (st == TALLY_OK && !x->leaves) {
		uint32_t key = wait_for_key(x);
		if (x->leaves)
			break;
		st = key == TUI_KEY_NONE ? take_time(x, err) : take_key(x, key, err);
		if (st == TALLY_OK)
			st = draw(x, err);
	}
	return st;
}

static bool make_help(struct exploring *x)
{
	size_t count;
	const struct tui_help *common = explorer_help(&count);

	x->help = malloc((count + OWN_HELP) * sizeof(*x->help));
	if (!x->help)
		return false;
	memcpy(x->help, own_help, sizeof(own_help));
	x->help_count = OWN_HELP;
	for (size_t i = 0; i < count; i++)
		if (!common[i].keys || !strchr("fais", common[i].keys[0]))
			x->help[x->help_count++] = common[i];
	return true;
}

/* The first note is on the bottom line until a key comes; all are printed at the end. */
static void say_first(struct exploring *x, const struct diag *notes)
{
	if (notes->len)
		explorer_say(&x->shown.explorer, "%s", notes->entries[notes->len - 1].text);
	else
		explorer_say(&x->shown.explorer, "the first samples come in %llu s",
			(unsigned long long)x->view->settings->delay_s);
}

enum tally_status top_explore(struct top_view *view, struct diag *notes, int signal_fd, struct tally_error *err)
{
	struct exploring x = {
		.view = view, .signal_fd = signal_fd, .due_ms = now_ms() + (int64_t)view->settings->delay_s * 1000};

	if (!make_help(&x))
		return error_nomem(err);
	enum tally_status st = open_table(&x, err);
	if (st == TALLY_OK) {
		say_first(&x, notes);
		st = tui_terminal_open(&x.terminal, err);
	}
	if (st == TALLY_OK) {
		st = run(&x, err);
		tui_terminal_close(x.terminal);
	}
	close_table(&x);
	grid_deinit(&x.grid);
	free(x.help);
	return st;
}
