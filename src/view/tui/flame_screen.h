/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_screen.h - shows a profile's stacks as blocks on the screen: callers above, callees below, with widths
 * proportional to their cost. It holds the zoom and the cursor, handles keys, and draws into a grid. It uses no
 * terminal.
 *
 * Borrows the flame tree; the caller deinits.
 *
 *	flame_screen_init(&screen, &tree, "cycles", err);
 *	flame_screen_resize(&screen, 24, 80);
 *	enum tree_action action = flame_screen_key(&screen, '\r');
 *	flame_screen_draw(&screen, &grid);
 *	flame_screen_deinit(&screen);
 */
#ifndef VIEW_TUI_FLAME_SCREEN_H
#define VIEW_TUI_FLAME_SCREEN_H

#include "view/tui/tree_screen.h"

enum flame_shows { FLAME_SHOWS_ALL, FLAME_SHOWS_RUNNING, FLAME_SHOWS_WAITS }; /* of a tree that has states */

struct flame_screen {
	const struct flame_tree *tree;
	const char *title;
	uint64_t *states; /* flame_tree_state_totals; NULL: the tree has none */
	enum flame_shows shows;
	uint64_t *weights; /* by node: what is shown of its total */
	uint64_t total; /* of them */
	uint64_t *starts; /* by node: what lies left of it */
	bool *matches; /* by label */
	uint64_t matched; /* the sum of the matches; nested ones count once */
	uint32_t zoom, cursor; /* nodes; PROFILE_NONE: the root of all */
	unsigned top; /* levels scrolled out */
	struct tui_frame frame;
};

TALLY_MUST_CHECK enum tally_status flame_screen_init(
	struct flame_screen *s, const struct flame_tree *tree, const char *title, struct tally_error *err);
void flame_screen_deinit(struct flame_screen *s);
/* As tree_screen's: the zoom, the cursor and what was searched for stay. */
void flame_screen_remember(const struct flame_screen *s, struct tree_memory *memory);
TALLY_MUST_CHECK enum tally_status flame_screen_renew(struct flame_screen *s, const struct tree_memory *memory,
	const struct flame_tree *tree, struct tally_error *err);
void flame_screen_resize(struct flame_screen *s, unsigned rows, unsigned columns);
enum tree_action flame_screen_key(struct flame_screen *s, uint32_t key);
/* NULL: the cursor is on the root of all. */
const struct flame_label *flame_screen_label(const struct flame_screen *s);
/* The columns of the node's block, from first to before end. False: it is outside of the zoom, or too narrow. */
bool flame_screen_block(const struct flame_screen *s, uint32_t node, unsigned *first, unsigned *end);
/* The level of the node's block from the top; of the root of all 0. */
unsigned flame_screen_level(const struct flame_screen *s, uint32_t node);
const struct tui_help *flame_screen_help(size_t *count);

#endif
