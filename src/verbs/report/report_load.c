/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/report/report_load.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "tasks/reporting/report_tables.h"
#include "tasks/terminal/screen_work.h"
#include "view/tui/explorer_draw.h"
#include "view/tui/explorer_lines.h"
#include "view/tui/explorer_table.h"

#define FIRST_MS 40 /* what is read by then shows at once */

struct report_load_part { /* the recording up to some byte, or all of it */
	struct replay_result result;
	struct profile_filter filter;
	struct explore_table table;
	bool has_table;
};

struct report_load_loading {
	const struct report_load *load;
	struct screen_work work; /* its parts are struct report_load_part */

	/* The worker's until it is done. */
	struct report_load_part whole;
	enum tally_status status;
	struct tally_error error;

	/* Of the thread that draws. */
	struct explore_begun *begun;
	struct grid grid;
	struct report_load_part *shown; /* NULL: nothing yet */
	bool leaves;
};

static void report_load_part_deinit(struct report_load_part *part)
{
	if (part->has_table)
		explore_table_deinit(&part->table);
	profile_filter_deinit(&part->filter);
	replay_result_deinit(&part->result);
	*part = (struct report_load_part){0};
}

static void part_destroy(struct report_load_part *part)
{
	if (part)
		report_load_part_deinit(part);
	free(part);
}

static enum tally_status report_load_make_table(
	const struct report_load_loading *l, struct report_load_part *part, size_t bytes, struct tally_error *err)
{
	const struct report_load *load = l->load;
	struct report_tables tables = {load->wanted.plan, part->result.profile, &part->filter, load->cpus};
	struct explore_table made = {.options = report_tables_options(load->wanted.plan)};
	uint32_t first = report_tables_find(&tables, 0);
	if (first == part->result.profile->event_count)
		return TALLY_OK;
	enum tally_status status =
		report_tables_make(&tables, first, report_tables_members(&tables, first), &made.table, err);
	if (status != TALLY_OK)
		return status;
	if (bytes)
		text_printf(&made.title, "[the first %zu MB] ", bytes >> 20);
	load->print_title(load->report, &made.table, &made.title);
	text_char(&made.title, 0);
	if (made.title.failed) {
		explore_table_deinit(&made);
		return error_nomem(err);
	}
	part->table = made;
	part->has_table = true;
	return TALLY_OK;
}

/* bytes: 0 is all of it. A recording that was cut, as each part is, has a table all the same. */
static enum tally_status make_part(struct report_load_loading *l, const struct report_replay *wanted,
	struct report_load_part *part, struct tally_error *err)
{
	const struct report_load *load = l->load;
	struct tally_error inner = {0};
	enum tally_status status = report_replay_run(wanted, load->store, &part->result, err);
	if (!part->result.profile)
		return status;
	enum tally_status made =
		profile_filter_init(&part->filter, part->result.profile, &wanted->plan->filters, &inner);
	part->filter.cpu_passes = load->socket_cpus;
	part->filter.cpu_limit = load->socket_cpu_count;
	if (made == TALLY_OK)
		made = report_load_make_table(l, part, wanted->max_bytes, &inner);
	if (made == TALLY_OK)
		return status;
	report_load_part_deinit(part);
	if (err)
		*err = inner;
	return made;
}

/* A part that fails is left out; the failure is reported for the whole recording. */
static void report_load_publish_part(struct report_load_loading *l, size_t bytes, bool with_names)
{
	struct report_replay wanted = l->load->wanted;
	struct report_load_part *part = calloc(1, sizeof(*part));
	wanted.max_bytes = bytes;
	wanted.without_names = !with_names;
	wanted.without_inlines = true;
	if (part)
		(void)make_part(l, &wanted, part, NULL);
	if (!part || !part->has_table) {
		part_destroy(part);
		return;
	}
	part_destroy(screen_work_put(&l->work, part));
}

/* The bytes of which the beginning can be read by itself; 0: it cannot. */
static size_t report_load_divisible_bytes(const struct report_load *load)
{
	const struct report_request *r = load->wanted.plan->request;
	uint64_t offset;
	/* a hierarchy would show a table first that is none */
	if (r->samples.times || r->selection.switch_on || r->selection.switch_off || r->rows.is_hierarchy)
		return 0;
	return perfdata_reader_data(load->wanted.reader, &offset).len;
}

static void report_load_read_all(void *context)
{
	struct report_load_loading *l = context;
	struct report_replay wanted = l->load->wanted;
	size_t total = report_load_divisible_bytes(l->load);
	for (size_t bytes = SCREEN_FIRST_BYTES; bytes <= total / SCREEN_PART_STEP; bytes *= SCREEN_PART_STEP) {
		if (bytes == SCREEN_FIRST_BYTES)
			report_load_publish_part(l, bytes, false);
		report_load_publish_part(l, bytes, true);
	}
	wanted.progress = &l->work.progress;
	l->status = make_part(l, &wanted, &l->whole, &l->error);
}

static enum tally_status report_load_draw(struct report_load_loading *l, struct tally_error *err)
{
	struct explorer *e = &l->begun->explorer;
	bool says_progress = !e->message[0];
	unsigned rows, columns;
	if (!l->shown)
		return screen_work_draw(&l->work, l->begun->terminal, &l->grid, l->load->path, err);
	tui_terminal_size(l->begun->terminal, &rows, &columns);
	explorer_resize(e, rows, columns);
	if (says_progress) {
		struct text progress = {0};
		screen_work_tell(&l->work, columns, &progress);
		explorer_say(e, "%s%.*s", l->begun->waits == EXPLORER_STAY ? "" : "done as soon as all is read; ",
			(int)progress.len, progress.data);
		text_deinit(&progress);
	}
	bool is_drawn = !e->failed && explorer_draw(e, "", &l->grid);
	if (says_progress)
		e->message[0] = '\0';
	if (!is_drawn)
		return error_nomem(err);
	tui_terminal_show(l->begun->terminal, &l->grid);
	return TALLY_OK;
}

static enum tally_status show_part(
	struct report_load_loading *l, struct report_load_part *part, struct tally_error *err)
{
	struct explorer *e = &l->begun->explorer;
	struct explore_table *t = &part->table;
	struct explorer_memory memory;
	enum tally_status status;
	if (!l->shown) {
		status = explorer_init(e, &t->table, &t->options, t->title.data, err);
	} else {
		explorer_remember(e, &memory);
		status = explorer_renew(e, &memory, &t->table, t->title.data, err);
		explorer_memory_deinit(&memory);
		if (status != TALLY_OK)
			explorer_deinit(e);
	}
	part_destroy(l->shown);
	l->shown = part;
	l->begun->has_explorer = status == TALLY_OK;
	return status;
}

static void report_load_take_key(struct report_load_loading *l, uint32_t key)
{
	struct explorer *e = &l->begun->explorer;
	if (key == TUI_KEY_CTRL('l'))
		tui_terminal_redraw(l->begun->terminal);
	if (!l->shown) {
		l->leaves = key == 'q' || key == TUI_KEY_CTRL('c') || key == TUI_KEY_CLOSED;
		return;
	}
	enum explorer_action action = explorer_key(e, key);
	l->leaves = action == EXPLORER_QUIT;
	if (key != TUI_KEY_NONE && key != TUI_KEY_RESIZE) { /* the next key drops what waits */
		l->begun->waits = action;
		l->begun->waits_member = e->order_member;
	}
	e->order_member = e->table->options.sort_member; /* no order was taken yet */
}

/* Until all is read, or the user leaves. A table that comes waits until the next is due, so that nothing flickers. */
static enum tally_status report_load_watch(struct report_load_loading *l, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	int64_t due_ms = clock_ms() + FIRST_MS;
	while (status == TALLY_OK) {
		int64_t left_ms = due_ms - clock_ms();
		uint32_t key = screen_work_key(&l->work, l->begun->terminal, left_ms > 0 ? (int)left_ms : 0);
		report_load_take_key(l, key);
		if (l->leaves || screen_work_is_done(&l->work))
			break;
		if (key == TUI_KEY_NONE && clock_ms() < due_ms)
			continue;
		struct report_load_part *newest = screen_work_take(&l->work);
		if (newest)
			status = show_part(l, newest, err);
		if (status == TALLY_OK)
			status = report_load_draw(l, err);
		due_ms = clock_ms() + SCREEN_EVERY_MS;
	}
	return status;
}

/* What reads cannot be stopped: it ends with the process. */
static void report_load_leave(struct report_load_loading *l)
{
	tui_terminal_close(l->begun->terminal);
	l->begun->terminal = NULL;
	l->begun->leaves = true;
	if (l->load->wanted.plan->request->requirements.count == 0)
		_exit(EXIT_SUCCESS);
}

/* What was looked at is looked at in the whole. */
static void hand_over(struct report_load_loading *l, struct report_loaded *loaded)
{
	if (l->begun->has_explorer)
		explorer_remember(&l->begun->explorer, &l->begun->memory);
	part_destroy(l->shown);
	l->shown = NULL;
	loaded->result = l->whole.result;
	loaded->filter = l->whole.filter;
	l->begun->first = l->whole.table;
	l->begun->has_first = l->whole.has_table;
}

static enum tally_status report_load_run(
	struct report_load_loading *l, struct report_loaded *loaded, struct tally_error *err)
{
	enum tally_status status = tui_terminal_open(&l->begun->terminal, err);
	if (status != TALLY_OK)
		return status;
	screen_work_start(&l->work);
	status = report_load_watch(l, err);
	if (l->leaves)
		report_load_leave(l);
	screen_work_join(&l->work);
	hand_over(l, loaded);
	if (status == TALLY_OK && l->status != TALLY_OK && err)
		*err = l->error;
	return status == TALLY_OK ? l->status : status;
}

enum tally_status report_load(const struct report_load *load, struct report_loaded *loaded, struct tally_error *err)
{
	struct report_load_loading l = {.load = load, .begun = &loaded->begun};
	*loaded = (struct report_loaded){0};
	enum tally_status status = screen_work_init(&l.work, report_load_read_all, &l, err);
	if (status != TALLY_OK)
		return status;
	status = report_load_run(&l, loaded, err);
	part_destroy(screen_work_take(&l.work));
	part_destroy(l.shown);
	screen_work_deinit(&l.work);
	grid_deinit(&l.grid);
	return status;
}
