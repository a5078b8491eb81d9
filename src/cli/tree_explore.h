/*
 * tree_explore.h - the views of a profile's stacks on a terminal: top-down, callers, flame. Each is made when first
 * looked at, and stays as it was left.
 *
 * Zero-initialised is nothing; the caller deinits. Trees borrow the profile.
 *
 *	status = tree_explore_show(&views, &request, TREE_FLAME, &end, err);
 */
#ifndef CLI_TREE_EXPLORE_H
#define CLI_TREE_EXPLORE_H

#include "cli/tui_terminal.h"
#include "view/tui/flame_screen.h"

struct tree_views {
	bool has_tree[2]; /* by whether it is reversed */
	struct flame_tree trees[2];
	bool has_top_down, has_callers, has_flame;
	struct tree_screen top_down, callers;
	struct flame_screen flame;
	char top_down_title[256], callers_title[256], flame_title[256];
};

struct tree_explore {
	struct tui_terminal *terminal;
	struct grid *grid;
	const char *title; /* another one after renew: the caller sets it there */
	double limit; /* percent */
	void *data;
	enum tally_status (*make)(void *data, bool is_reversed, struct flame_tree *tree, struct tally_error *err);
	/* A profile that is renewed: key waits for one, or gives TUI_KEY_NONE when something is due, which renew does;
	 * changed: it is another profile then, whose trees are to be made. NULL: it stays. */
	uint32_t (*key)(void *data);
	enum tally_status (*renew)(void *data, bool *changed, struct tally_error *err);
};

/* end: TREE_BACK, TREE_LEAVE, or TREE_ANNOTATE with the label at the cursor. view: the one that shows, in and out. */
TALLY_MUST_CHECK enum tally_status tree_explore_show(struct tree_views *views, const struct tree_explore *request,
	enum tree_action *view, enum tree_action *end, const struct flame_label **label, struct tally_error *err);
/* On the bottom line of that view until the next key. */
void tree_explore_say(struct tree_views *views, enum tree_action view, const char *message);
void tree_views_deinit(struct tree_views *views);

#endif
