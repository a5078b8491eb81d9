#include "cli/top_explore.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "cli/top_code.h"
#include "cli/tree_explore.h"
#include "cli/tui_print.h"
#include "cli/tui_terminal.h"
#include "view/tui/explorer_changes.h"
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
	struct tree_views trees; /* while one of them shows */
	struct tree_explore *tree; /* likewise */
	struct top_code code;
	struct tui_help *help; /* the explorer's keys and ours */
	size_t help_count;
	int signal_fd;
	uint32_t current; /* table of view */
	int64_t due_ms;
	enum profile_key order; /* that was chosen */
	bool has_order, is_frozen, leaves, is_woken;
	bool wants_code; /* of --sym-annotate, as soon as it has samples */
	uint64_t changes; /* of the profile */
	struct explorer_mark mark; /* what changes are shown since */
	bool has_mark;
};

static const struct tui_help own_help[] = {
	{NULL, "What comes in"},
	{"f", "freeze: take no more samples, or go on"},
	{"z", "start from nothing at each refresh, or let samples fade"},
	{"Z", "forget all samples up to now"},
	{"D", "from now on only what changes, and by how much; again: all"},
	{"S", "search a text (n N: the next, the one before)"},
};

#define OWN_HELP (sizeof(own_help) / sizeof(own_help[0]))

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
		x->changes++;
		st = explorer_renew(&x->shown.explorer, &memory, &x->shown.table, x->shown.title.data, err);
	}
	explorer_memory_deinit(&memory);
	return st;
}

static enum tally_status refresh(struct exploring *x, struct tally_error *err)
{
	enum tally_status st = TALLY_OK;

	if (x->view->settings->zeroes && !x->is_frozen)
		st = top_session_zero(x->view->session, err);
	return st == TALLY_OK ? top_session_refresh(x->view->session, !x->is_frozen, err) : st;
}

static enum tally_status relieve(struct exploring *x, struct tally_error *err)
{
	return top_session_relieve(x->view->session, err);
}

static enum tally_status forget(struct exploring *x, struct tally_error *err)
{
	return top_session_zero(x->view->session, err);
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
	int64_t left = x->due_ms - clock_ms();
	uint32_t key = tui_terminal_key_now(x->terminal); /* may have been read already */

	x->is_woken = false;
	if (key != TUI_KEY_NONE || left <= 0)
		return key;
	int n = poll(inputs, 2, (int)(left < LOOK_MS ? left : LOOK_MS));
	x->is_woken = n != 0;
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

static void drop_mark(struct exploring *x)
{
	if (x->has_mark)
		explorer_mark_deinit(&x->mark);
	x->has_mark = false;
}

static enum tally_status switch_event(struct exploring *x, uint32_t step, struct tally_error *err)
{
	if (x->view->count < 2) {
		explorer_say(&x->shown.explorer, "there is one event");
		return TALLY_OK;
	}
	close_table(x);
	drop_mark(x); /* the other event has other shares */
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

/* Only what changes from now on, or all again. */
static enum tally_status switch_mark(struct exploring *x, struct tally_error *err)
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
	case 'D':
		*st = switch_mark(x, err);
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

static enum tally_status take_time(struct exploring *x, struct tally_error *err)
{
	int64_t delay_ms = (int64_t)x->view->settings->delay_s * 1000, now = clock_ms();

	if (now < x->due_ms)
		return top_session_is_full(x->view->session) ? change_profile(x, relieve, err) : TALLY_OK;
	x->due_ms += delay_ms;
	if (x->due_ms < now) /* stopped for a while: no need to make up for it */
		x->due_ms = now + delay_ms;
	if (top_session_is_over(x->view->session))
		explorer_say(&x->shown.explorer, "what was watched has ended: q leaves");
	return change_profile(x, refresh, err);
}

/* ---- other screens of the profile ---- */

/* Not before there is something to do. */
static uint32_t next_key(void *data)
{
	struct exploring *x = data;

	for (;;) {
		uint32_t key = wait_for_key(x);
		if (x->leaves)
			return TUI_KEY_CTRL('c');
		if (key != TUI_KEY_NONE || x->is_woken || clock_ms() >= x->due_ms ||
			top_session_is_full(x->view->session))
			return key;
	}
}

static enum tally_status renew(void *data, bool *changed, struct tally_error *err)
{
	struct exploring *x = data;
	uint64_t before = x->changes;
	enum tally_status st = take_time(x, err);

	*changed = x->changes != before;
	if (x->tree)
		x->tree->title = x->shown.title.data;
	return st;
}

/* What takes a while says so first. */
static enum tally_status say_while(struct exploring *x, const char *what, struct tally_error *err)
{
	explorer_say(&x->shown.explorer, "%s", what);
	enum tally_status st = draw(x, err);
	x->shown.explorer.message[0] = '\0';
	return st;
}

/* why: what to say about it on the screen. */
static enum tally_status show_code(struct exploring *x, uint32_t function, struct tally_error *why)
{
	struct explore_symbol symbol = {.terminal = x->terminal, .grid = &x->grid};
	struct text names[2] = {0}; /* the profile's go with it */

	enum tally_status st = explore_symbol_of(&symbol, &x->shown.table, function, why);
	if (st != TALLY_OK)
		return st;
	text_bytes(&names[0], symbol.name.data, symbol.name.len);
	text_bytes(&names[1], symbol.path.data, symbol.path.len);
	if (names[0].failed || names[1].failed)
		st = error_nomem(why);
	symbol.name = (struct tally_str){names[0].data, names[0].len};
	symbol.path = (struct tally_str){names[1].data, names[1].len};
	if (st == TALLY_OK)
		st = top_code_show(&x->code, &symbol, &x->leaves, why);
	text_deinit(&names[0]);
	text_deinit(&names[1]);
	return st;
}

static enum tally_status annotate(struct exploring *x, uint32_t function, struct tally_error *err)
{
	struct tally_error why = {0};

	if (function == PROFILE_NONE)
		return TALLY_OK;
	enum tally_status st = say_while(x, "reading the symbols of what ran last ...", err);
	if (st == TALLY_OK && show_code(x, function, &why) == TALLY_NOMEM)
		return error_nomem(err);
	if (why.text[0])
		explorer_say(&x->shown.explorer, "%s", why.text);
	return st;
}

/* The function of --sym-annotate, once. */
static enum tally_status annotate_asked(struct exploring *x, struct tally_error *err)
{
	const struct profile *p = top_view_profile(x->view);
	struct tally_str name = str_from(x->view->settings->sym_annotate);

	for (uint32_t i = 0; i < p->function_count; i++) {
		if (!str_equal(profile_string(p, p->functions[i].name), name) || p->functions[i].is_inlined)
			continue;
		x->wants_code = false;
		return annotate(x, i, err);
	}
	explorer_say(&x->shown.explorer, "%.*s has no samples yet", (int)name.len, name.data);
	return TALLY_OK;
}

static enum tally_status make_tree(void *data, bool is_reversed, struct flame_tree *tree, struct tally_error *err)
{
	struct exploring *x = data;
	const struct flame_options options = {.event = x->view->first[x->current],
		.group = is_reversed ? FLAME_BY_NOTHING : FLAME_BY_COMM,
		.is_reversed = is_reversed,
		.filter = &x->view->filter};

	return flame_tree_init(tree, top_view_profile(x->view), &options, err);
}

/* From a block of a tree. The profile is another one afterwards, and so are the trees. */
static enum tally_status annotate_label(
	struct exploring *x, const struct flame_label *label, enum tree_action view, struct tally_error *err)
{
	struct tally_error why = {0};
	uint64_t before = x->changes;
	uint32_t function = explore_symbol_labelled(top_view_profile(x->view), label);
	enum tally_status st = TALLY_OK;

	if (function == PROFILE_NONE)
		st = error_set(&why, TALLY_NOT_FOUND, "no function's code is known here");
	else
		st = show_code(x, function, &why);
	if (st == TALLY_NOMEM)
		return error_nomem(err);
	if (x->changes != before)
		tree_views_deinit(&x->trees);
	else if (why.text[0])
		tree_explore_say(&x->trees, view, why.text);
	return TALLY_OK;
}

static enum tally_status show_tree(struct exploring *x, enum tree_action view, struct tally_error *err)
{
	struct tree_explore request = {.terminal = x->terminal,
		.grid = &x->grid,
		.title = x->shown.title.data,
		.limit = x->shown.options.chains.min_percent,
		.data = x,
		.make = make_tree,
		.key = next_key,
		.renew = renew};
	enum tree_action end = TREE_STAY;
	enum tally_status st = TALLY_OK;

	x->tree = &request;
	while (st == TALLY_OK && end != TREE_BACK && !x->leaves) {
		const struct flame_label *label = NULL;
		st = tree_explore_show(&x->trees, &request, &view, &end, &label, err);
		x->leaves |= end == TREE_LEAVE;
		if (st == TALLY_OK && end == TREE_ANNOTATE)
			st = annotate_label(x, label, view, err);
	}
	x->tree = NULL;
	tree_views_deinit(&x->trees);
	return st;
}

static enum tally_status show_other(struct exploring *x, enum explorer_action action, struct tally_error *err)
{
	const struct tree_choice {
		enum explorer_action action;
		enum tree_action view;
	} choices[] = {
		{EXPLORER_TOP_DOWN, TREE_TOP_DOWN}, {EXPLORER_CALLERS, TREE_CALLERS}, {EXPLORER_FLAME, TREE_FLAME}};

	if (action == EXPLORER_ANNOTATE)
		return annotate(x, explorer_function(&x->shown.explorer), err);
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (action == choices[i].action)
			return show_tree(x, choices[i].view, err);
	explorer_say(&x->shown.explorer, "recordings have that: tally record, then tally report");
	return TALLY_OK;
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
	else if (action != EXPLORER_STAY)
		st = show_other(x, action, err);
	return st;
}

static enum tally_status run(struct exploring *x, struct tally_error *err)
{
	enum tally_status st = draw(x, err);

	while (st == TALLY_OK && !x->leaves) {
		uint32_t key = wait_for_key(x);
		if (x->leaves)
			break;
		st = key == TUI_KEY_NONE ? take_time(x, err) : take_key(x, key, err);
		if (st == TALLY_OK && x->wants_code && x->changes)
			st = annotate_asked(x, err);
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
		if (!common[i].keys || !strchr("fis", common[i].keys[0]))
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
	struct exploring x = {.view = view,
		.signal_fd = signal_fd,
		.wants_code = view->settings->sym_annotate != NULL,
		.due_ms = clock_ms() + (int64_t)view->settings->delay_s * 1000};

	x.code = (struct top_code){.view = view, .key = next_key, .renew = renew, .data = &x};
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
	drop_mark(&x);
	grid_deinit(&x.grid);
	free(x.help);
	return st;
}
