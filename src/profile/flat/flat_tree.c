/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flat/flat_tree.h"

#include <stdlib.h>

#define NONE	UINT32_MAX
#define DEEPEST (2 * 32 + 1) /* nodes on a way down: no more than twice as many as a full tree of all numbers has */

enum side { LEFT, RIGHT };

struct node { /* of the row of the same index */
	uint64_t tie;
	uint32_t thread, depth, rank;
	uint32_t children[2];
	bool is_red;
};

struct flat_tree_tree {
	struct node *nodes;
	uint32_t root;
	bool is_deepest_first;
};

struct way { /* from the root down; the last node is the newest one */
	uint32_t nodes[DEEPEST];
	uint8_t sides[DEEPEST]; /* where it goes on from the node */
	unsigned len;
};

/* Which side it is nobody can foretell, a processor neither: there are no branches. */
static enum side side_below(const struct flat_tree_tree *t, const struct node *item, const struct node *node)
{
	bool is_by_depth = (item->tie == node->tie) & (item->thread == node->thread) & (item->depth != node->depth);
	bool is_after_by_depth = (item->depth < node->depth) == t->is_deepest_first;
	return (enum side)((is_by_depth & is_after_by_depth) | (!is_by_depth & (item->rank > node->rank)));
}

/* What the node of the way at that depth hangs from. */
static uint32_t *link_to(struct flat_tree_tree *t, const struct way *way, unsigned depth)
{
	return depth ? &t->nodes[way->nodes[depth - 1]].children[way->sides[depth - 1]] : &t->root;
}

/* The node goes down to that side, and its child of the other side takes its place. */
static void flat_tree_rotate(struct flat_tree_tree *t, uint32_t *link, enum side side)
{
	uint32_t node = *link, child = t->nodes[node].children[!side];
	t->nodes[node].children[!side] = t->nodes[child].children[side];
	t->nodes[child].children[side] = node;
	*link = child;
}

/* No red node has a red child, when this is done. */
static void flat_tree_balance(struct flat_tree_tree *t, struct way *way)
{
	unsigned at = way->len - 1;
	while (at >= 2 && t->nodes[way->nodes[at - 1]].is_red) {
		uint32_t parent = way->nodes[at - 1], grand = way->nodes[at - 2];
		enum side side = way->sides[at - 2];
		uint32_t uncle = t->nodes[grand].children[!side];
		if (uncle != NONE && t->nodes[uncle].is_red) {
			t->nodes[parent].is_red = t->nodes[uncle].is_red = false;
			t->nodes[grand].is_red = true;
			at -= 2;
			continue;
		}
		if (way->sides[at - 1] != side)
			flat_tree_rotate(t, &t->nodes[grand].children[side], side);
		t->nodes[t->nodes[grand].children[side]].is_red = false;
		t->nodes[grand].is_red = true;
		flat_tree_rotate(t, link_to(t, way, at - 2), !side);
		break;
	}
	t->nodes[t->root].is_red = false;
}

static void flat_tree_insert(struct flat_tree_tree *t, uint32_t item)
{
	struct way way;
	way.len = 0;
	for (uint32_t at = t->root; at != NONE; at = t->nodes[at].children[way.sides[way.len - 1]]) {
		way.sides[way.len] = (uint8_t)side_below(t, &t->nodes[item], &t->nodes[at]);
		way.nodes[way.len++] = at;
	}
	*link_to(t, &way, way.len) = item;
	way.nodes[way.len++] = item;
	flat_tree_balance(t, &way);
}

static void flat_tree_walk(const struct flat_tree_tree *t, const struct flat_tree_row *rows, uint32_t *order)
{
	uint32_t above[DEEPEST];
	unsigned depth = 0;
	for (uint32_t at = t->root; depth || at != NONE; at = t->nodes[at].children[RIGHT]) {
		for (; at != NONE; at = t->nodes[at].children[LEFT])
			above[depth++] = at;
		at = above[--depth];
		*order++ = rows[at].row;
	}
}

bool flat_tree_order(const struct flat_tree_row *rows, size_t count, bool is_deepest_first, uint32_t *order)
{
	struct flat_tree_tree t = {malloc((count + 1) * sizeof(*t.nodes)), NONE, is_deepest_first};
	if (!t.nodes)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct flat_tree_row *row = &rows[i];
		t.nodes[i] = (struct node){row->tie, row->thread, row->depth, row->rank, {NONE, NONE}, true};
		flat_tree_insert(&t, i);
	}
	flat_tree_walk(&t, rows, order);
	free(t.nodes);
	return true;
}
