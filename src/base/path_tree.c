#include "base/path_tree.h"
void path_tree_deinit(struct path_tree *tree)
{
	vec_free(&tree->nodes);
	slots_free(tree->slots, tree->slot_count);
	*tree = (struct path_tree){0};
}

static uint32_t hash_of(uint32_t parent, uint32_t item)
{
	uint64_t h = ((uint64_t)parent << 32 | item) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)((h ^ h >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* The slot of a node, or the empty one where it belongs. */
static size_t find_slot(const struct path_tree *tree, uint32_t parent, uint32_t item, uint32_t hash)
{
	size_t mask = tree->slot_count - 1;
	size_t at = hash & mask;
	for (; tree->slots[at]; at = (at + 1) & mask) {
		uint64_t slot = tree->slots[at];
		if (slot >> 32 != hash)
			continue;
		const struct path_node *node = &tree->nodes.items[(uint32_t)slot - 1];
		if (node->parent == parent && node->item == item)
			break;
	}
	return at;
}

static bool reserve_slots(struct path_tree *tree, size_t more)
{
	if ((tree->used + more) * 4 < tree->slot_count * 3)
		return true;
	return slots_grow(&tree->slots, &tree->slot_count);
}

static void put_slot(struct path_tree *tree, size_t at, uint32_t hash, uint32_t id)
{
	tree->slots[at] = (uint64_t)hash << 32 | (id + UINT64_C(1));
	tree->used++;
}

static void set_recent(struct path_tree *tree, uint32_t parent, uint32_t id)
{
	if (parent == PATH_TREE_NONE)
		tree->root = id + 1;
	else
		tree->nodes.items[parent].recent = id;
}

static void set_many(struct path_tree *tree, uint32_t parent)
{
	if (parent == PATH_TREE_NONE)
		tree->has_many_roots = true;
	else
		tree->nodes.items[parent].has_many = true;
}

/* The child that is not the recent one. */
static uint32_t add_other(struct path_tree *tree, uint32_t parent, uint32_t item, uint32_t recent, bool has_many)
{
	uint32_t id = (uint32_t)tree->nodes.len;
	uint32_t hash = hash_of(parent, item);
	if (has_many) {
		uint64_t slot = tree->slots[find_slot(tree, parent, item, hash)];
		if (slot)
			return (uint32_t)slot - 1;
	}
	if (!vec_reserve(&tree->nodes, tree->nodes.len + 1) || !reserve_slots(tree, 2))
		return PATH_TREE_NONE;
	if (!has_many) {
		uint32_t item_before = tree->nodes.items[recent].item;
		uint32_t hash_before = hash_of(parent, item_before);
		put_slot(tree, find_slot(tree, parent, item_before, hash_before), hash_before, recent);
		set_many(tree, parent);
	}
	tree->nodes.items[tree->nodes.len++] = (struct path_node){parent, item, .recent = PATH_TREE_NONE};
	put_slot(tree, find_slot(tree, parent, item, hash), hash, id);
	return id;
}

uint32_t path_tree_add(struct path_tree *tree, uint32_t parent, uint32_t item)
{
	bool is_root = parent == PATH_TREE_NONE;
	uint32_t recent = is_root ? tree->root - 1 : tree->nodes.items[parent].recent;
	if (recent != PATH_TREE_NONE && tree->nodes.items[recent].item == item)
		return recent;
	if (tree->nodes.len >= PATH_TREE_NONE)
		return PATH_TREE_NONE;
	uint32_t id = (uint32_t)tree->nodes.len;
	if (recent != PATH_TREE_NONE)
		id = add_other(tree, parent, item, recent,
			is_root ? tree->has_many_roots : tree->nodes.items[parent].has_many);
	else if (!vec_push(&tree->nodes, ((struct path_node){parent, item, .recent = PATH_TREE_NONE})))
		id = PATH_TREE_NONE;
	if (id != PATH_TREE_NONE)
		set_recent(tree, parent, id);
	return id;
}
