/*
 * path_tree.h - paths of items that begin alike, each node once: (parent, item) <-> dense ids, first id 0. A parent's id
 * is smaller than its children's.
 *
 * Owned by its aggregate, one thread. path_tree_add is PATH_TREE_NONE when memory is out; the tree is then unchanged.
 * Most nodes have one child, which its parent knows: only the children of a node that has several are looked up.
 *
 *	uint32_t id = path_tree_add(&t, PATH_TREE_NONE, item);	the parent must be a node of the tree, or none
 */
#ifndef BASE_PATH_TREE_H
#define BASE_PATH_TREE_H

#include <stdbool.h>

#include "base/slots.h"
#include "base/vec.h"

#define PATH_TREE_NONE UINT32_MAX

struct path_node {
	uint32_t parent, item;
	uint32_t recent; /* the child that was asked for last: most paths begin as one before; PATH_TREE_NONE: none */
	uint32_t has_many; /* more than one child: all are in the slots */
};

struct path_tree { /* zero-initialised is empty */
	VEC(struct path_node) nodes; /* by id */
	uint32_t root; /* as recent, + 1; 0: no node yet */
	uint32_t has_many_roots;
	uint64_t *slots; /* open addressing: hash and id + 1; 0 is empty */
	size_t slot_count, used;
};

void path_tree_deinit(struct path_tree *tree);
uint32_t path_tree_add(struct path_tree *tree, uint32_t parent, uint32_t item);

#endif
