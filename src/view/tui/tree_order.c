/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/tree_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

struct heavy {
	uint64_t total;
	uint32_t parent, node; /* parent: index in children. */
};

static int by_weight(const void *left, const void *right)
{
	const struct heavy *a = left, *b = right;
	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return COMPARE(a->node, b->node);
}

static uint32_t parent_index(const struct flame_tree *tree, uint32_t node)
{
	uint32_t parent = tree->nodes[node].parent;
	return parent == PROFILE_NONE ? (uint32_t)tree->node_count : parent;
}

/* Parents precede their children. */
static bool add_passing(struct tree_order *o, const struct flame_tree *tree, const char *filter)
{
	bool *passes = calloc(tree->node_count + 1, sizeof(*passes));
	if (!passes)
		return false;
	for (uint32_t i = 0; i < tree->node_count; i++) {
		struct tally_str name = tree->labels[tree->nodes[i].label].name;
		passes[i] = passes[parent_index(tree, i)] ||
			    (name.len && memmem(name.data, name.len, filter, strlen(filter)));
		o->totals[i] = passes[i] ? tree->nodes[i].total : 0;
	}
	for (uint32_t i = (uint32_t)tree->node_count; i-- > 0;) {
		uint32_t parent = parent_index(tree, i);
		if (!passes[parent])
			o->totals[parent] += o->totals[i];
	}
	free(passes);
	return true;
}

static bool put_in_order(struct tree_order *o, const struct flame_tree *tree, bool only_passing)
{
	struct heavy *all = calloc(tree->node_count + 1, sizeof(*all));
	size_t count = 0;
	if (!all)
		return false;
	for (uint32_t i = 0; i < tree->node_count; i++)
		if (o->totals[i] || !only_passing)
			all[count++] = (struct heavy){o->totals[i], parent_index(tree, i), i};
	qsort(all, count, sizeof(*all), by_weight);
	for (uint32_t i = 0; i < count; i++) {
		struct tree_children *of = &o->children[all[i].parent];
		if (of->count++ == 0)
			of->first = i;
		o->nodes[i] = all[i].node;
	}
	free(all);
	return true;
}

bool tree_order_make(struct tree_order *o, const struct flame_tree *tree, const char *filter)
{
	size_t count = tree->node_count + 1;
	*o = (struct tree_order){calloc(count, sizeof(*o->children)), calloc(count, sizeof(*o->nodes)),
		calloc(count, sizeof(*o->totals))};
	bool is_made = o->children && o->nodes && o->totals;
	if (is_made && *filter) {
		is_made = add_passing(o, tree, filter);
	} else if (is_made) {
		for (size_t i = 0; i < tree->node_count; i++)
			o->totals[i] = tree->nodes[i].total;
		o->totals[tree->node_count] = tree->total;
	}
	if (is_made && put_in_order(o, tree, *filter))
		return true;
	tree_order_deinit(o);
	return false;
}

void tree_order_deinit(struct tree_order *o)
{
	free(o->children);
	free(o->nodes);
	free(o->totals);
	*o = (struct tree_order){0};
}
