/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_order.h - sorts the children of each tree node by weight, and omits those that a filter rejects. It uses no
 * screen.
 *
 * Borrows the tree; the caller deinits.
 *
 *	if (tree_order_make(&order, &tree, "malloc"))
 *		for (uint32_t i = 0; i < order.children[node].count; i++) use(order.nodes[order.children[node].first + i]);
 *	tree_order_deinit(&order);
 */
#ifndef VIEW_TUI_TREE_ORDER_H
#define VIEW_TUI_TREE_ORDER_H

#include "profile/flame_tree.h"

struct tree_children { /* of a node: in order */
	uint32_t first, count;
};

struct tree_order {
	struct tree_children *children; /* by node; the last one is the root of all */
	uint32_t *nodes; /* each node's children together, heavy ones first */
	uint64_t *totals; /* by node; the last one is of all that passes */
};

/* Nodes whose name contains the text pass, with all nodes below them; nodes above them have the sums of those that
 * pass. Empty: all pass. False: out of memory, and nothing needs to be freed. */
TALLY_MUST_CHECK bool tree_order_make(struct tree_order *order, const struct flame_tree *tree, const char *filter);
void tree_order_deinit(struct tree_order *order);

#endif
