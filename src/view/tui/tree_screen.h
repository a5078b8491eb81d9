/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_screen.h - displays a profile's stacks as a tree: from the outermost callers down, or from each function to its
 * callers. It tracks open nodes and the cursor, and handles keys. It uses no terminal.
 *
 * It borrows the flame tree; the caller calls tree_screen_deinit. Heavy nodes come first; those below the limit are
 * left out.
 *
 *	tree_screen_init(&screen, &tree, "Callers", 0.5, err);
 *	tree_screen_resize(&screen, 24, 80);
 *	enum tree_action action = tree_screen_key(&screen, '\r');
 *	tree_screen_draw(&screen, &grid);
 *	tree_screen_deinit(&screen);
 */
#ifndef VIEW_TUI_TREE_SCREEN_H
#define VIEW_TUI_TREE_SCREEN_H

#include "base/vec.h"
#include "view/tui/tree_memory.h"
#include "view/tui/tree_order.h"
#include "view/tui/tui_frame.h"

enum tree_action { /* Actions of the tree view and of the flame view. */
	TREE_STAY,
	TREE_BACK,
	TREE_LEAVE,
	/* TREE_TOP_DOWN, TREE_CALLERS, TREE_FLAME and TREE_LEVELS open other views of the same samples. */
	TREE_TOP_DOWN,
	TREE_CALLERS,
	TREE_FLAME,
	TREE_LEVELS,
	TREE_NEXT_EVENT,
	TREE_PREVIOUS_EVENT,
	TREE_ANNOTATE, /* Annotate the function at the cursor. */
	TREE_PRINT
};

struct tree_screen {
	const struct flame_tree *tree;
	const char *title;
	/* Heading for the nodes; NULL if they are functions, which are displayed with their own share in addition. */
	const char *heading;
	double limit; /* Percentage of the total. */
	struct tree_order order;
	bool *is_open; /* Indexed by node. */
	uint32_t *lines; /* Visible nodes. */
	struct tui_list list;
	struct tui_frame frame;
};

TALLY_MUST_CHECK enum tally_status tree_screen_init(
	struct tree_screen *s, const struct flame_tree *tree, const char *title, double limit, struct tally_error *err);
void tree_screen_deinit(struct tree_screen *s);
/* Call tree_screen_remember before the tree is destroyed, and tree_screen_renew with the new tree: open nodes and the
 * cursor are kept by name. After a failure, the screen can only be deinitialised. */
void tree_screen_remember(const struct tree_screen *s, struct tree_memory *memory);
TALLY_MUST_CHECK enum tally_status tree_screen_renew(struct tree_screen *s, const struct tree_memory *memory,
	const struct flame_tree *tree, struct tally_error *err);
void tree_screen_resize(struct tree_screen *s, unsigned rows, unsigned columns);
enum tree_action tree_screen_key(struct tree_screen *s, uint32_t key);
/* Returns the label at the cursor; NULL if there is none. */
const struct flame_label *tree_screen_label(const struct tree_screen *s);
/* Returns false when out of memory. */
bool tree_screen_draw(const struct tree_screen *s, struct grid *grid);
/* Prints the open nodes; out->failed is set when out of memory. */
void tree_screen_print(const struct tree_screen *s, struct text *out);

#endif
