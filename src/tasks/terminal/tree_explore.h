/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_explore.h - shows a profile as trees on a terminal: stacks top-down, callers, a flame graph, or sort keys by
 * level. Each is made when it is first shown, and keeps its state.
 *
 * struct tree_views starts as zeros, and the caller frees it with tree_views_deinit. Trees borrow the profile.
 *
 *	status = tree_explore_show(&views, &request, &view, &end, &label, err);
 */
#ifndef TASKS_TERMINAL_TREE_EXPLORE_H
#define TASKS_TERMINAL_TREE_EXPLORE_H

#include "tasks/terminal/tui_terminal.h"
#include "view/tui/flame_screen.h"

enum tree_kind { TREE_OF_CALLEES, TREE_OF_CALLERS, TREE_OF_LEVELS, TREE_KINDS };

struct tree_views {
	bool has_tree[TREE_KINDS];
	struct flame_tree trees[TREE_KINDS];
	bool has_screen[TREE_KINDS], has_flame;
	struct tree_screen screens[TREE_KINDS];
	struct flame_screen flame;
	char titles[TREE_KINDS][256], flame_title[256];
};

struct tree_explore {
	struct tui_terminal *terminal;
	struct grid *grid;
	const char *title; /* The caller changes it in renew if necessary. */
	const char *levels; /* Heading of the tree of levels, or NULL if there is none. */
	double limit, level_limit; /* Smallest percentage that is shown, for stacks and for sort keys. */
	void *data;
	/* Makes a tree of this kind, which the views own from then on. */
	enum tally_status (*make)(void *data, enum tree_kind kind, struct flame_tree *tree, struct tally_error *err);
	/* For a profile that is refreshed: key waits for a key, or returns TUI_KEY_NONE when renew must be called.
	 * renew sets changed if there is a new profile, for which trees must be made. Both are NULL if the profile
	 * never changes. */
	uint32_t (*key)(void *data);
	enum tally_status (*renew)(void *data, bool *changed, struct tally_error *err);
};

/* Sets end to TREE_BACK, TREE_LEAVE, an action that shows another event, or TREE_ANNOTATE with the label at the cursor.
 * view is the initial view, and on return the last one. */
TALLY_MUST_CHECK enum tally_status tree_explore_show(struct tree_views *views, const struct tree_explore *request,
	enum tree_action *view, enum tree_action *end, const struct flame_label **label, struct tally_error *err);
/* Shows the message on the bottom line of that view until the next key. */
void tree_explore_say(struct tree_views *views, enum tree_action view, const char *message);
void tree_views_deinit(struct tree_views *views);

#endif
