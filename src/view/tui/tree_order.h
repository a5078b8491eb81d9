/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_order.h - sorts the children of each tree node by weight, and omits those that a filter rejects. It uses no
 * screen.
 *
 * It borrows the tree; the caller calls tree_order_deinit.
 *
 *	if (tree_order_make(&order, &tree, "malloc"))
 *		for (uint32_t i = 0; i < order.children[node].count; i++)
 *			use(order.nodes[order.children[node].first + i]);
 *	tree_order_deinit(&order);
 */
#ifndef VIEW_TUI_TREE_ORDER_H
#define VIEW_TUI_TREE_ORDER_H

#include "profile/flame_tree.h"

struct tree_children { /* Sorted children of a node. */
	uint32_t first, count;
};

struct tree_order {
	struct tree_children *children; /* Indexed by node; the last one is for the root. */
	uint32_t *nodes; /* The children of each node are adjacent, heaviest first. */
	uint64_t *totals; /* Indexed by node; the last one is the total of all that pass. */
};

/* Selects nodes with a name that contains the text, with all nodes below them; nodes above them get the sums of the
 * selected ones. An empty text selects all. Returns false when out of memory, and nothing needs to be freed then. */
TALLY_MUST_CHECK bool tree_order_make(struct tree_order *order, const struct flame_tree *tree, const char *filter);
void tree_order_deinit(struct tree_order *order);

#endif
