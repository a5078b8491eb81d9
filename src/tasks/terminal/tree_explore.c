/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/terminal/tree_explore.h"

#include <stdio.h>

#include "base/error.h"
#include "tasks/terminal/tui_print.h"
#include "view/tui/flame_draw.h"

static enum tally_status want_tree(
	struct tree_views *views, const struct tree_explore *request, enum tree_kind kind, struct tally_error *err)
{
	if (views->has_tree[kind])
		return TALLY_OK;
	enum tally_status status = request->make(request->data, kind, &views->trees[kind], err);
	views->has_tree[kind] = status == TALLY_OK;
	return status;
}

/* A flame graph shows callees. */
static enum tree_kind tree_explore_kind_of(enum tree_action view)
{
	return view == TREE_CALLERS ? TREE_OF_CALLERS : view == TREE_LEVELS ? TREE_OF_LEVELS : TREE_OF_CALLEES;
}

static struct tree_screen *tree_explore_screen_of(struct tree_views *views, enum tree_action view)
{
	return view == TREE_FLAME ? NULL : &views->screens[tree_explore_kind_of(view)];
}

static void make_titles(struct tree_views *views, const char *title)
{
	static const char *const names[] = {"Top-down", "Callers", "Hierarchy"};
	snprintf(views->flame_title, sizeof(views->flame_title), "Flame: %s", title);
	for (unsigned i = 0; i < TREE_KINDS; i++)
		snprintf(views->titles[i], sizeof(views->titles[i]), "%s: %s", names[i], title);
}

static enum tally_status want_view(
	struct tree_views *views, const struct tree_explore *request, enum tree_action view, struct tally_error *err)
{
	enum tree_kind kind = tree_explore_kind_of(view);
	bool *has = view == TREE_FLAME ? &views->has_flame : &views->has_screen[kind];
	if (*has)
		return TALLY_OK;
	enum tally_status status = want_tree(views, request, kind, err);
	if (status != TALLY_OK)
		return status;
	const struct flame_tree *tree = &views->trees[kind];
	make_titles(views, request->title);
	if (view == TREE_FLAME)
		status = flame_screen_init(&views->flame, tree, views->flame_title, err);
	else
		status = tree_screen_init(&views->screens[kind], tree, views->titles[kind],
			kind == TREE_OF_LEVELS ? request->level_limit : request->limit, err);
	if (status == TALLY_OK && kind == TREE_OF_LEVELS)
		views->screens[kind].heading = request->levels;
	*has = status == TALLY_OK;
	return status;
}

static enum tally_status tree_explore_draw(
	struct tree_views *views, const struct tree_explore *request, enum tree_action view, struct tally_error *err)
{
	unsigned rows, columns;
	struct tree_screen *tree = tree_explore_screen_of(views, view);
	bool is_drawn;
	tui_terminal_size(request->terminal, &rows, &columns);
	if (tree) {
		tree_screen_resize(tree, rows, columns);
		is_drawn = tree_screen_draw(tree, request->grid);
	} else {
		flame_screen_resize(&views->flame, rows, columns);
		is_drawn = flame_draw(&views->flame, request->grid);
	}
	if (!is_drawn)
		return error_nomem(err);
	tui_terminal_show(request->terminal, request->grid);
	return TALLY_OK;
}

static void tree_explore_print_tree(void *data, struct text *out)
{
	tree_screen_print(data, out);
}

/* ---- Refreshed profiles ---- */

struct remembered {
	struct tree_memory screens[TREE_KINDS], flame;
};

static void tree_explore_remember(const struct tree_views *views, struct remembered *m)
{
	*m = (struct remembered){0};
	for (unsigned i = 0; i < TREE_KINDS; i++)
		if (views->has_screen[i])
			tree_screen_remember(&views->screens[i], &m->screens[i]);
	if (views->has_flame)
		flame_screen_remember(&views->flame, &m->flame);
}

static enum tally_status make_again(
	struct tree_views *views, const struct tree_explore *request, struct remembered *m, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	make_titles(views, request->title);
	for (unsigned i = 0; i < TREE_KINDS && status == TALLY_OK; i++) {
		if (!views->has_tree[i])
			continue;
		flame_tree_deinit(&views->trees[i]);
		views->has_tree[i] = false;
		status = want_tree(views, request, i, err);
		if (status == TALLY_OK && views->has_screen[i])
			status = tree_screen_renew(&views->screens[i], &m->screens[i], &views->trees[i], err);
	}
	if (status == TALLY_OK && views->has_flame)
		status = flame_screen_renew(&views->flame, &m->flame, &views->trees[TREE_OF_CALLEES], err);
	return status;
}

static enum tally_status tree_explore_renew(
	struct tree_views *views, const struct tree_explore *request, struct tally_error *err)
{
	struct remembered m;
	bool is_changed = false;
	tree_explore_remember(views, &m);
	enum tally_status status = request->renew(request->data, &is_changed, err);
	if (status == TALLY_OK && is_changed)
		status = make_again(views, request, &m, err);
	for (unsigned i = 0; i < TREE_KINDS; i++)
		tree_memory_deinit(&m.screens[i]);
	tree_memory_deinit(&m.flame);
	return status;
}

enum tally_status tree_explore_show(struct tree_views *views, const struct tree_explore *request,
	enum tree_action *view, enum tree_action *end, const struct flame_label **label, struct tally_error *err)
{
	for (*end = TREE_STAY; *end == TREE_STAY;) {
		enum tally_status status = want_view(views, request, *view, err);
		if (status == TALLY_OK)
			status = tree_explore_draw(views, request, *view, err);
		if (status != TALLY_OK)
			return status;
		struct tree_screen *tree = tree_explore_screen_of(views, *view);
		uint32_t key = request->key ? request->key(request->data) : tui_terminal_key(request->terminal);
		if (key == TUI_KEY_NONE && request->renew) {
			status = tree_explore_renew(views, request, err);
			if (status != TALLY_OK)
				return status;
			continue;
		}
		if (key == TUI_KEY_CTRL('l'))
			tui_terminal_redraw(request->terminal);
		enum tree_action action = tree ? tree_screen_key(tree, key) : flame_screen_key(&views->flame, key);
		switch (action) {
		case TREE_STAY:
			break;
		case TREE_TOP_DOWN:
		case TREE_CALLERS:
		case TREE_FLAME:
		case TREE_LEVELS:
			*view = action;
			break;
		case TREE_PRINT:
			tui_print(&(struct tui_printed){.base = "perf.tree",
					  .is_numbered = true,
					  .print = tree_explore_print_tree,
					  .data = tree},
				tree->frame.message, sizeof(tree->frame.message));
			break;
		case TREE_BACK:
			/* The hierarchy is the view from which the others are entered. */
			if (request->levels && *view != TREE_LEVELS)
				*view = TREE_LEVELS;
			else
				*end = action;
			break;
		case TREE_NEXT_EVENT:
		case TREE_PREVIOUS_EVENT:
		case TREE_LEAVE:
		case TREE_ANNOTATE:
			*end = action;
			*label = tree ? tree_screen_label(tree) : flame_screen_label(&views->flame);
			break;
		}
	}
	return TALLY_OK;
}

void tree_explore_say(struct tree_views *views, enum tree_action view, const char *message)
{
	struct tree_screen *tree = tree_explore_screen_of(views, view);
	if (tree)
		snprintf(tree->frame.message, sizeof(tree->frame.message), "%s", message);
	else
		snprintf(views->flame.frame.message, sizeof(views->flame.frame.message), "%s", message);
}

void tree_views_deinit(struct tree_views *views)
{
	if (views->has_flame)
		flame_screen_deinit(&views->flame);
	for (unsigned i = 0; i < TREE_KINDS; i++) {
		if (views->has_screen[i])
			tree_screen_deinit(&views->screens[i]);
		if (views->has_tree[i])
			flame_tree_deinit(&views->trees[i]);
	}
	*views = (struct tree_views){0};
}
