/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/report/report_load.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "tasks/reporting/report_tables.h"
#include "tasks/terminal/screen_load.h"
#include "view/tui/explorer_draw.h"
#include "view/tui/explorer_lines.h"
#include "view/tui/explorer_table.h"

struct report_load_part { /* The profile of the recording up to some byte, or of all of it. */
	struct replay_result result;
	struct profile_filter filter;
	struct explore_table table;
	bool has_table;
};

struct report_load_loading {
	const struct report_load *load;
	struct screen_load screen; /* The screen_load's parts are of type struct report_load_part. */
	struct report_load_part whole; /* Owned by the worker thread until it has finished. */
	bool has_parts; /* Used by the worker thread only; set after it has published a part. */

	/* The following members belong to the thread that draws the screen. */
	struct explore_begun *begun;
	struct grid grid;
	struct report_load_part *shown; /* NULL if no part has been shown. */
};

static void report_load_part_deinit(struct report_load_part *part)
{
	if (part->has_table)
		explore_table_deinit(&part->table);
	profile_filter_deinit(&part->filter);
	replay_result_deinit(&part->result);
	*part = (struct report_load_part){0};
}

static void part_destroy(void *part)
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

/* max_bytes 0 stands for the whole recording. A truncated recording, as each part is, still yields a table. */
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
	if (part && part->has_table)
		screen_load_put(&l->screen, part);
	else
		part_destroy(part);
}

/* Returns the size of the recorded data in bytes if the samples of its beginning can be shown by themselves, otherwise
 * 0. */
static size_t report_load_divisible_bytes(const struct report_load *load)
{
	const struct report_request *r = load->wanted.plan->request;
	uint64_t offset;
	/* The table of a part is not hierarchical, so a hierarchy is shown only when it is complete. */
	if (r->samples.times || r->selection.switch_on || r->selection.switch_off || r->rows.is_hierarchy)
		return 0;
	return perfdata_reader_data(load->wanted.reader, &offset).len;
}

static void report_load_read_part(void *data, size_t bytes)
{
	struct report_load_loading *l = data;
	if (!l->has_parts)
		report_load_publish_part(l, bytes, false);
	l->has_parts = true;
	report_load_publish_part(l, bytes, true);
}

static enum tally_status report_load_read_all(void *data, struct progress *progress, struct tally_error *err)
{
	struct report_load_loading *l = data;
	struct report_replay wanted = l->load->wanted;
	wanted.progress = progress;
	return make_part(l, &wanted, &l->whole, err);
}

static enum tally_status report_load_draw(struct report_load_loading *l, struct tally_error *err)
{
	struct explorer *e = &l->begun->explorer;
	bool says_progress = !e->message[0];
	unsigned rows, columns;
	tui_terminal_size(l->begun->terminal, &rows, &columns);
	explorer_resize(e, rows, columns);
	if (says_progress) {
		struct text progress = {0};
		screen_load_tell(&l->screen, &progress);
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

/* Handles keys until the next redraw is due. A key makes it due at once. */
static void report_load_take_keys(struct report_load_loading *l)
{
	struct explorer *e = &l->begun->explorer;
	int64_t due_ms = clock_ms() + SCREEN_EVERY_MS;
	uint32_t key = TUI_KEY_NONE;
	for (int64_t now_ms = clock_ms(); key == TUI_KEY_NONE && now_ms < due_ms; now_ms = clock_ms()) {
		key = screen_load_key(&l->screen, (int)(due_ms - now_ms));
		enum explorer_action action = explorer_key(e, key);
		l->screen.leaves = action == EXPLORER_QUIT;
		if (key != TUI_KEY_NONE && key != TUI_KEY_RESIZE) { /* A later key replaces the pending action. */
			l->begun->waits = action;
			l->begun->waits_member = e->order_member;
		}
		/* Changes of the sort order are deferred until all is loaded. */
		e->order_member = e->table->options.sort_member;
		if (screen_load_is_over(&l->screen))
			return;
	}
}

/* Redraws the screen until the whole recording has been read or the user quits. */
static enum tally_status report_load_watch(struct report_load_loading *l, struct tally_error *err)
{
	enum tally_status status = screen_load_wait(&l->screen, err);
	while (status == TALLY_OK && !screen_load_is_over(&l->screen)) {
		struct report_load_part *newest = screen_load_take(&l->screen);
		if (newest)
			status = show_part(l, newest, err);
		if (status == TALLY_OK)
			status = report_load_draw(l, err);
		if (status == TALLY_OK)
			report_load_take_keys(l);
	}
	return status;
}

static enum tally_status report_load_run(
	struct report_load_loading *l, struct report_loaded *loaded, struct tally_error *err)
{
	enum tally_status status = screen_load_start(&l->screen, err);
	if (status != TALLY_OK)
		return status;
	l->begun->terminal = l->screen.terminal;
	status = report_load_watch(l, err);
	if (l->screen.leaves) {
		/* If --require has to be checked, this waits until the whole recording has been read. */
		screen_load_leave(&l->screen, l->load->wanted.plan->request->requirements.count > 0);
		l->begun->terminal = NULL;
		l->begun->leaves = true;
	}
	status = screen_load_join(&l->screen, status, err);
	/* The report gets the complete result; the cursor and the open views are preserved. */
	if (l->begun->has_explorer)
		explorer_remember(&l->begun->explorer, &l->begun->memory);
	part_destroy(l->shown);
	l->shown = NULL;
	loaded->result = l->whole.result;
	loaded->filter = l->whole.filter;
	l->begun->first = l->whole.table;
	l->begun->has_first = l->whole.has_table;
	return status;
}

enum tally_status report_load(const struct report_load *load, struct report_loaded *loaded, struct tally_error *err)
{
	struct report_load_loading l = {.load = load, .begun = &loaded->begun};
	const struct screen_load_job job = {.data = &l,
		.path = load->path,
		.bytes = report_load_divisible_bytes(load),
		.read_part = report_load_read_part,
		.read_all = report_load_read_all,
		.destroy_part = part_destroy};
	*loaded = (struct report_loaded){0};
	enum tally_status status = screen_load_init(&l.screen, &job, err);
	if (status != TALLY_OK)
		return status;
	status = report_load_run(&l, loaded, err);
	part_destroy(l.shown);
	screen_load_deinit(&l.screen);
	grid_deinit(&l.grid);
	return status;
}
