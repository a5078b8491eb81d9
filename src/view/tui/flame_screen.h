/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_screen.h - displays a profile's stacks as blocks: callers above, callees below, with widths proportional to
 * their cost. It holds the zoom and the cursor, and handles keys. It uses no terminal.
 *
 * It borrows the flame tree; the caller calls flame_screen_deinit.
 *
 *	flame_screen_init(&screen, &tree, "cycles", err);
 *	flame_screen_resize(&screen, 24, 80);
 *	enum tree_action action = flame_screen_key(&screen, '\r');
 *	flame_draw(&screen, &grid);	// flame_draw.h
 *	flame_screen_deinit(&screen);
 */
#ifndef VIEW_TUI_FLAME_SCREEN_H
#define VIEW_TUI_FLAME_SCREEN_H

#include "view/tui/tree_screen.h"

/* Displayed states, for a tree that has states. */
enum flame_shows { FLAME_SHOWS_ALL, FLAME_SHOWS_RUNNING, FLAME_SHOWS_WAITS };

struct flame_screen {
	const struct flame_tree *tree;
	const char *title;
	uint64_t *states; /* From flame_tree_state_totals; NULL if the tree has no states. */
	enum flame_shows shows;
	uint64_t *weights; /* Displayed part of each node's total. */
	uint64_t total; /* Total of the weights. */
	uint64_t *starts; /* Sum of the weights to the left of each node. */
	bool *matches; /* Indexed by label: whether it matches the search. */
	uint64_t matched; /* Sum of the matches; nested ones count once. */
	uint32_t zoom, cursor; /* Nodes; PROFILE_NONE for the root. */
	unsigned top; /* Number of levels scrolled out at the top. */
	struct tui_frame frame;
};

TALLY_MUST_CHECK enum tally_status flame_screen_init(
	struct flame_screen *s, const struct flame_tree *tree, const char *title, struct tally_error *err);
void flame_screen_deinit(struct flame_screen *s);
/* Call flame_screen_remember before the tree is destroyed, and flame_screen_renew with the new tree: zoom, cursor and
 * search pattern are kept. After a failure, the screen can only be deinitialised. */
void flame_screen_remember(const struct flame_screen *s, struct tree_memory *memory);
TALLY_MUST_CHECK enum tally_status flame_screen_renew(struct flame_screen *s, const struct tree_memory *memory,
	const struct flame_tree *tree, struct tally_error *err);
void flame_screen_resize(struct flame_screen *s, unsigned rows, unsigned columns);
enum tree_action flame_screen_key(struct flame_screen *s, uint32_t key);
/* Returns the label at the cursor; NULL at the root. */
const struct flame_label *flame_screen_label(const struct flame_screen *s);
/* Returns the columns of the node's block, from *first to before *end; false if it is outside the zoom or too
 * narrow. */
bool flame_screen_block(const struct flame_screen *s, uint32_t node, unsigned *first, unsigned *end);
/* Returns the level of the node's block, counted from the root, which has level 0. */
unsigned flame_screen_level(const struct flame_screen *s, uint32_t node);
const struct tui_help *flame_screen_help(size_t *count);

#endif
