/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/top/top_screens.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "view/tui/explorer_rows.h"

/* Waits until a key has been pressed or there is other work to do. */
static uint32_t top_screens_next_key(void *data)
{
	struct top_state *x = data;
	for (;;) {
		uint32_t key = top_state_wait(x);
		if (x->leaves)
			return TUI_KEY_CTRL('c');
		if (key != TUI_KEY_NONE || x->is_woken || clock_ms() >= x->due_ms ||
			live_session_is_full(x->view->session))
			return key;
	}
}

static enum tally_status top_screens_renew(void *data, bool *changed, struct tally_error *err)
{
	struct top_state *x = data;
	uint64_t before = x->changes;
	enum tally_status status = top_state_take_time(x, err);
	*changed = x->changes != before;
	if (x->tree)
		x->tree->title = x->shown.title.data;
	return status;
}

/* why is the reason of a failure, to be shown on the screen. */
static enum tally_status show_code(struct top_state *x, uint32_t function, struct tally_error *why)
{
	struct explore_symbol symbol = {.terminal = x->terminal, .grid = &x->grid};
	/* Copies, because the profile that owns the names may be replaced while the code is shown. */
	struct text names[2] = {0};
	enum tally_status status = explore_symbol_of(&symbol, &x->shown.table, function, why);
	if (status != TALLY_OK)
		return status;
	text_bytes(&names[0], symbol.name.data, symbol.name.len);
	text_bytes(&names[1], symbol.path.data, symbol.path.len);
	if (names[0].failed || names[1].failed)
		status = error_nomem(why);
	symbol.name = (struct tally_str){names[0].data, names[0].len};
	symbol.path = (struct tally_str){names[1].data, names[1].len};
	if (status == TALLY_OK)
		status = top_code_show(&x->code, &symbol, &x->leaves, why);
	text_deinit(&names[0]);
	text_deinit(&names[1]);
	return status;
}

static enum tally_status top_screens_annotate(struct top_state *x, uint32_t function, struct tally_error *err)
{
	struct tally_error why = {0};
	if (function == PROFILE_NONE)
		return TALLY_OK;
	/* This message is on the screen while the symbols are read, which takes a while. */
	explorer_say(&x->shown.explorer, "reading the symbols of what ran last ...");
	enum tally_status status = top_state_draw(x, err);
	x->shown.explorer.message[0] = '\0';
	if (status == TALLY_OK && show_code(x, function, &why) == TALLY_NOMEM)
		return error_nomem(err);
	if (why.text[0])
		explorer_say(&x->shown.explorer, "%s", why.text);
	return status;
}

enum tally_status top_screens_show_asked(struct top_state *x, struct tally_error *err)
{
	const struct profile *p = top_view_profile(x->view);
	struct tally_str name = str_from(x->view->settings->sym_annotate);
	for (uint32_t i = 0; i < p->function_count; i++) {
		if (!str_equal(profile_string(p, p->functions[i].name), name) || p->functions[i].is_inlined)
			continue;
		x->wants_code = false;
		return top_screens_annotate(x, i, err);
	}
	explorer_say(&x->shown.explorer, "%.*s has no samples yet", (int)name.len, name.data);
	return TALLY_OK;
}

static enum tally_status make_levels(struct top_state *x, struct flame_tree *tree, struct tally_error *err)
{
	struct flat_table table;
	enum tally_status status = top_view_table(x->view, x->current, &table, err);
	if (status != TALLY_OK)
		return status;
	status = report_levels_init(tree, &x->view->plan, &table, err);
	flat_table_deinit(&table);
	return status;
}

static enum tally_status top_screens_make_tree(
	void *data, enum tree_kind kind, struct flame_tree *tree, struct tally_error *err)
{
	struct top_state *x = data;
	if (kind == TREE_OF_LEVELS)
		return make_levels(x, tree, err);
	bool is_reversed = kind == TREE_OF_CALLERS;
	const struct flame_options options = {.event = x->view->first[x->current],
		.group = is_reversed ? FLAME_BY_NOTHING : FLAME_BY_COMM,
		.is_reversed = is_reversed,
		.filter = &x->view->filter};

	return flame_tree_init(tree, top_view_profile(x->view), &options, err);
}

/* Annotates the function of a block of a tree. The profile may have been replaced after that, which makes the trees
 * invalid. */
static enum tally_status top_screens_annotate_label(
	struct top_state *x, const struct flame_label *label, enum tree_action view, struct tally_error *err)
{
	struct tally_error why = {0};
	uint64_t before = x->changes;
	uint32_t function = explore_symbol_labelled(top_view_profile(x->view), label);
	enum tally_status status = TALLY_OK;
	if (function == PROFILE_NONE)
		status = error_set(&why, TALLY_NOT_FOUND, "no sampled function can be disassembled");
	else
		status = show_code(x, function, &why);
	if (status == TALLY_NOMEM)
		return error_nomem(err);
	if (x->changes != before)
		tree_views_deinit(&x->trees);
	else if (why.text[0])
		tree_explore_say(&x->trees, view, why.text);
	return TALLY_OK;
}

static enum tally_status top_screens_switch_event(
	struct top_state *x, enum tree_action to, enum tree_action view, struct tally_error *err)
{
	if (x->view->count < 2) {
		tree_explore_say(&x->trees, view, "there is one event");
		return TALLY_OK;
	}
	tree_views_deinit(&x->trees);
	enum tally_status status = top_state_switch_event(x, to == TREE_NEXT_EVENT ? 1 : x->view->count - 1, err);
	if (status == TALLY_OK)
		x->tree->title = x->shown.title.data;
	return status;
}

static enum tally_status top_screens_show_tree(struct top_state *x, enum tree_action view, struct tally_error *err)
{
	struct tree_explore request = {.terminal = x->terminal,
		.grid = &x->grid,
		.title = x->shown.title.data,
		.levels = x->view->settings->report.rows.is_hierarchy ? "Sort keys, one below the other" : NULL,
		.limit = x->shown.options.chains.min_percent,
		.level_limit = x->shown.options.percent_limit,
		.data = x,
		.make = top_screens_make_tree,
		.key = top_screens_next_key,
		.renew = top_screens_renew};
	enum tree_action end = TREE_STAY;
	enum tally_status status = TALLY_OK;
	x->tree = &request;
	while (status == TALLY_OK && end != TREE_BACK && !x->leaves) {
		const struct flame_label *label = NULL;
		status = tree_explore_show(&x->trees, &request, &view, &end, &label, err);
		x->leaves |= end == TREE_LEAVE;
		if (status == TALLY_OK && end == TREE_ANNOTATE)
			status = top_screens_annotate_label(x, label, view, err);
		else if (status == TALLY_OK && (end == TREE_NEXT_EVENT || end == TREE_PREVIOUS_EVENT))
			status = top_screens_switch_event(x, end, view, err);
	}
	x->tree = NULL;
	tree_views_deinit(&x->trees);
	return status;
}

enum tally_status top_screens_show(struct top_state *x, enum explorer_action action, struct tally_error *err)
{
	const struct tree_choice {
		enum explorer_action action;
		enum tree_action view;
	} choices[] = {
		{EXPLORER_TOP_DOWN, TREE_TOP_DOWN}, {EXPLORER_CALLERS, TREE_CALLERS}, {EXPLORER_FLAME, TREE_FLAME}};

	if (action == EXPLORER_ANNOTATE)
		return top_screens_annotate(x, explorer_function(&x->shown.explorer), err);
	for (size_t i = 0; i < ARRAY_LEN(choices); i++)
		if (action == choices[i].action)
			return top_screens_show_tree(x, choices[i].view, err);
	explorer_say(&x->shown.explorer, "recordings have that: tally record, then tally report");
	return TALLY_OK;
}

enum tally_status top_screens_show_levels(struct top_state *x, struct tally_error *err)
{
	return top_screens_show_tree(x, TREE_LEVELS, err);
}

struct top_code top_screens_code(struct top_state *x)
{
	return (struct top_code){.view = x->view, .key = top_screens_next_key, .renew = top_screens_renew, .data = x};
}
