/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/reporting/report_explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tasks/reporting/report_tables.h"
#include "tasks/terminal/tree_explore.h"
#include "tasks/terminal/tui_print.h"
#include "tasks/terminal/tui_terminal.h"
#include "view/tui/explorer_draw.h"
#include "view/tui/explorer_lines.h"
#include "view/tui/explorer_rows.h"
#include "view/tui/explorer_table.h"
#include "view/tui/text_screen.h"

struct view {
	struct explore_table from;
	struct explorer explorer;
	struct tree_views trees;
	bool is_open;
};

struct report_explore_session {
	const struct explore_source *source;
	struct tui_terminal *terminal;
	struct view *views; /* One for each table of the source. */
	struct grid grid;
	uint32_t current;
};

void explore_table_deinit(struct explore_table *table)
{
	flat_table_deinit(&table->table);
	text_deinit(&table->title);
}

void explore_begun_end(struct explore_begun *begun)
{
	if (begun->terminal)
		tui_terminal_close(begun->terminal);
	if (begun->has_first)
		explore_table_deinit(&begun->first);
	if (begun->has_explorer) {
		explorer_deinit(&begun->explorer);
		explorer_memory_deinit(&begun->memory);
	}
	*begun = (struct explore_begun){0};
}

static enum tally_status report_explore_make_view(
	struct report_explore_session *s, uint32_t index, struct view *view, struct tally_error *err)
{
	struct explore_begun *begun = index == 0 ? s->source->begun : NULL;
	enum tally_status status = TALLY_OK;
	if (begun && begun->has_first) {
		view->from = begun->first;
		begun->has_first = false;
	} else {
		status = s->source->open(s->source->data, index, &view->from, err);
	}
	if (status != TALLY_OK)
		return status;
	if (begun && begun->has_explorer) {
		/* The explorer of the preliminary table continues with the final table. */
		view->explorer = begun->explorer;
		begun->has_explorer = false;
		status = explorer_renew(&view->explorer, &begun->memory, &view->from.table, view->from.title.data, err);
		explorer_memory_deinit(&begun->memory);
		if (status != TALLY_OK)
			explorer_deinit(&view->explorer);
	} else {
		status = explorer_init(
			&view->explorer, &view->from.table, &view->from.options, view->from.title.data, err);
	}
	if (status != TALLY_OK)
		explore_table_deinit(&view->from);
	return status;
}

static enum tally_status open_view(struct report_explore_session *s, uint32_t index, struct tally_error *err)
{
	struct view *view = &s->views[index];
	enum tally_status status = view->is_open ? TALLY_OK : report_explore_make_view(s, index, view, err);
	view->is_open = status == TALLY_OK;
	return status;
}

static void close_view(struct view *view)
{
	if (!view->is_open)
		return;
	tree_views_deinit(&view->trees);
	explorer_deinit(&view->explorer);
	explore_table_deinit(&view->from);
	view->is_open = false;
}

static enum tally_status report_explore_switch_event(
	struct report_explore_session *s, uint32_t step, struct tally_error *err)
{
	struct explorer *from = &s->views[s->current].explorer;
	if (s->source->count < 2) {
		explorer_say(from, "the recording has one event");
		return TALLY_OK;
	}
	s->current = (s->current + step) % s->source->count;
	return open_view(s, s->current, err);
}

static enum tally_status report_explore_draw(struct report_explore_session *s, struct tally_error *err)
{
	struct explorer *e = &s->views[s->current].explorer;
	char events[32] = "";
	unsigned rows, columns;
	tui_terminal_size(s->terminal, &rows, &columns);
	explorer_resize(e, rows, columns);
	if (s->source->count > 1)
		snprintf(events, sizeof(events), "%u/%u", s->current + 1, s->source->count);
	if (e->failed || !explorer_draw(e, events, &s->grid))
		return error_nomem(err);
	tui_terminal_show(s->terminal, &s->grid);
	return TALLY_OK;
}

/* Shows a message before an operation that takes some time. */
static enum tally_status report_explore_say_while(
	struct report_explore_session *s, const char *what, struct tally_error *err)
{
	struct explorer *e = &s->views[s->current].explorer;
	explorer_say(e, "%s", what);
	enum tally_status status = report_explore_draw(s, err);
	e->message[0] = '\0';
	return status;
}

/* Shows the code of a function. The first call reads the samples of all functions. why is set to a message for the
 * screen. */
static enum tally_status annotate_function(struct report_explore_session *s, uint32_t function, bool *leaves,
	struct tally_error *why, struct tally_error *err)
{
	const struct flat_table *table = &s->views[s->current].from.table;
	struct explore_symbol symbol = {.terminal = s->terminal, .grid = &s->grid};
	enum tally_status status = explore_symbol_of(&symbol, table, function, why);
	if (status == TALLY_OK)
		status = s->source->annotate(s->source->data, &symbol, leaves, why);
	return status == TALLY_NOMEM ? error_nomem(err) : TALLY_OK;
}

static enum tally_status report_explore_annotate(
	struct report_explore_session *s, bool *leaves, struct tally_error *err)
{
	struct explorer *e = &s->views[s->current].explorer;
	uint32_t function = explorer_function(e);
	struct tally_error why = {0};
	if (function == PROFILE_NONE)
		return TALLY_OK;
	enum tally_status status = report_explore_say_while(s, "reading the samples of functions ...", err);
	if (status == TALLY_OK)
		status = annotate_function(s, function, leaves, &why, err);
	if (why.text[0])
		explorer_say(e, "%s", why.text);
	return status;
}

static enum tally_status report_explore_make_tree(
	void *data, enum tree_kind kind, struct flame_tree *tree, struct tally_error *err)
{
	struct report_explore_session *s = data;
	if (kind == TREE_OF_LEVELS)
		return s->source->levels(s->source->data, &s->views[s->current].from.table, tree, err);
	return s->source->tree(s->source->data, s->current, kind == TREE_OF_CALLERS, tree, err);
}

static struct tree_explore tree_request(struct report_explore_session *s)
{
	const struct explore_table *of = &s->views[s->current].from;
	return (struct tree_explore){.terminal = s->terminal,
		.grid = &s->grid,
		.title = of->title.data,
		.levels = s->source->levels ? "Sort keys, one below the other" : NULL,
		.limit = of->options.chains.min_percent,
		.level_limit = of->options.percent_limit,
		.data = s,
		.make = report_explore_make_tree};
}

static enum tally_status report_explore_annotate_label(struct report_explore_session *s,
	const struct flame_label *label, enum tree_action view, bool *leaves, struct tally_error *err)
{
	struct view *of = &s->views[s->current];
	struct tally_error why = {0};
	uint32_t function = explore_symbol_labelled(of->from.table.profile, label);
	enum tally_status status = TALLY_OK;
	if (function == PROFILE_NONE)
		error_set(&why, TALLY_NOT_FOUND, "no sampled function can be disassembled");
	else
		status = annotate_function(s, function, leaves, &why, err);
	if (why.text[0])
		tree_explore_say(&of->trees, view, why.text);
	return status;
}

static enum tally_status report_explore_show_tree(
	struct report_explore_session *s, enum tree_action view, bool *leaves, struct tally_error *err)
{
	enum tree_action end = TREE_STAY;
	enum tally_status status =
		report_explore_say_while(s, view == TREE_LEVELS ? "sorting ..." : "merging stacks ...", err);
	while (status == TALLY_OK && end != TREE_BACK && !*leaves) {
		struct tree_explore request = tree_request(s);
		struct tree_views *trees = &s->views[s->current].trees;
		const struct flame_label *label = NULL;
		status = tree_explore_show(trees, &request, &view, &end, &label, err);
		if (status != TALLY_OK)
			break;
		*leaves = end == TREE_LEAVE;
		if (end == TREE_ANNOTATE)
			status = report_explore_annotate_label(s, label, view, leaves, err);
		else if ((end == TREE_NEXT_EVENT || end == TREE_PREVIOUS_EVENT) && s->source->count < 2)
			tree_explore_say(trees, view, "the recording has one event");
		else if (end == TREE_NEXT_EVENT || end == TREE_PREVIOUS_EVENT)
			status = report_explore_switch_event(s, end == TREE_NEXT_EVENT ? 1 : s->source->count - 1, err);
	}
	return status;
}

static enum tally_status report_explore_order(struct view *view, struct tally_error *err)
{
	struct explorer *e = &view->explorer;
	enum tally_status status =
		report_tables_order(&view->from.table, &view->from.options, e->order, e->order_member, err);
	if (status == TALLY_OK)
		explorer_select_rows(e);
	return status;
}

static enum tally_status show_page(
	struct report_explore_session *s, enum explore_page page, bool *leaves, struct tally_error *err)
{
	struct explorer *e = &s->views[s->current].explorer;
	struct tally_error why = {0};
	struct text text = {0};
	struct text_screen screen = {0};
	enum tally_status status = report_explore_say_while(s, "reading ...", err);
	if (status != TALLY_OK)
		return status;
	status = s->source->page(s->source->data, page, &text, &why);
	if (status != TALLY_OK)
		explorer_say(e, "%s", why.text);
	else
		status = text_screen_init(
			&screen, page == EXPLORE_HEADER ? "Header" : "Health of the recording", &text, &why);
	text_deinit(&text);
	if (status != TALLY_OK)
		return status == TALLY_NOMEM ? error_nomem(err) : TALLY_OK;
	for (bool is_back = false; !is_back && !*leaves && status == TALLY_OK;) {
		unsigned rows, columns;
		tui_terminal_size(s->terminal, &rows, &columns);
		text_screen_resize(&screen, rows, columns);
		if (!text_screen_draw(&screen, &s->grid)) {
			status = error_nomem(err);
			break;
		}
		tui_terminal_show(s->terminal, &s->grid);
		uint32_t key = tui_terminal_key(s->terminal);
		if (key == TUI_KEY_CTRL('l'))
			tui_terminal_redraw(s->terminal);
		enum text_screen_action action = text_screen_key(&screen, key);
		is_back = action == TEXT_SCREEN_BACK;
		*leaves = action == TEXT_SCREEN_LEAVE;
	}
	text_screen_deinit(&screen);
	return status;
}

/* Sorts all tables again by other keys; if the keys are invalid, nothing changes. */
static enum tally_status sort_by(struct report_explore_session *s, struct tally_error *err)
{
	struct explorer *e = &s->views[s->current].explorer;
	struct tally_error why = {0};
	char keys[TUI_INPUT_BYTES];
	memcpy(keys, e->input.text, sizeof(keys));
	enum tally_status status = report_explore_say_while(s, "sorting ...", err);
	if (status != TALLY_OK)
		return status;
	status = s->source->sort(s->source->data, keys, &why);
	if (status == TALLY_NOMEM)
		return error_nomem(err);
	if (status != TALLY_OK) {
		explorer_say(e, "%s", why.text);
		return TALLY_OK;
	}
	for (uint32_t i = 0; i < s->source->count; i++)
		close_view(&s->views[i]);
	return open_view(s, s->current, err);
}

static enum tally_status report_explore_act(
	struct report_explore_session *s, enum explorer_action action, bool *leaves, struct tally_error *err)
{
	switch (action) {
	case EXPLORER_QUIT:
		*leaves = true;
		break;
	case EXPLORER_NEXT_EVENT:
		return report_explore_switch_event(s, 1, err);
	case EXPLORER_PREVIOUS_EVENT:
		return report_explore_switch_event(s, s->source->count - 1, err);
	case EXPLORER_PRINT:
		tui_print_table(&s->views[s->current].explorer);
		break;
	case EXPLORER_ANNOTATE:
		return report_explore_annotate(s, leaves, err);
	case EXPLORER_ORDER:
		return report_explore_order(&s->views[s->current], err);
	case EXPLORER_SORT:
		return sort_by(s, err);
	case EXPLORER_TOP_DOWN:
		return report_explore_show_tree(s, TREE_TOP_DOWN, leaves, err);
	case EXPLORER_CALLERS:
		return report_explore_show_tree(s, TREE_CALLERS, leaves, err);
	case EXPLORER_FLAME:
		return report_explore_show_tree(s, TREE_FLAME, leaves, err);
	case EXPLORER_HEADER:
		return show_page(s, EXPLORE_HEADER, leaves, err);
	case EXPLORER_HEALTH:
		return show_page(s, EXPLORE_HEALTH, leaves, err);
	case EXPLORER_STAY:
		break;
	}
	return TALLY_OK;
}

static enum tally_status report_explore_run(struct report_explore_session *s, struct tally_error *err)
{
	const struct explore_begun *begun = s->source->begun;
	enum tally_status status = TALLY_OK;
	bool leaves = false;
	if (s->source->levels) {
		status = report_explore_show_tree(s, TREE_LEVELS, &leaves, err);
	} else if (begun && begun->waits != EXPLORER_STAY) {
		/* This action was requested while the recording was still being read. */
		s->views[s->current].explorer.order_member = begun->waits_member;
		status = report_explore_act(s, begun->waits, &leaves, err);
	}
	while (status == TALLY_OK && !leaves) {
		status = report_explore_draw(s, err);
		if (status != TALLY_OK)
			break;
		uint32_t key = tui_terminal_key(s->terminal);
		if (key == TUI_KEY_CTRL('l'))
			tui_terminal_redraw(s->terminal);
		status = report_explore_act(s, explorer_key(&s->views[s->current].explorer, key), &leaves, err);
	}
	return status;
}

enum tally_status report_explore(const struct explore_source *source, struct tally_error *err)
{
	struct report_explore_session s = {.source = source};
	s.views = calloc(source->count, sizeof(*s.views));
	if (!s.views)
		return error_nomem(err);
	enum tally_status status = open_view(&s, 0, err);
	if (source->begun)
		s.terminal = source->begun->terminal;
	else if (status == TALLY_OK)
		status = tui_terminal_open(&s.terminal, err);
	if (status == TALLY_OK)
		status = report_explore_run(&s, err);
	if (s.terminal && !source->begun)
		tui_terminal_close(s.terminal);
	for (uint32_t i = 0; i < source->count; i++)
		close_view(&s.views[i]);
	free(s.views);
	grid_deinit(&s.grid);
	return status;
}
