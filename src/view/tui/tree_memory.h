/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_memory.h - stores paths through a tree of stacks by name, so that open nodes and the cursor can be found again
 * in the tree of another profile.
 *
 * Owned by the caller (tree_memory_deinit); it is valid for one refresh, and the first tree may be destroyed before
 * that.
 *
 *	tree_memory_note(&memory, &old_tree, nodes_that_are_open, node_of_the_cursor, node_of_the_zoom);
 *	tree_memory_find(&memory, &new_tree, is_open, &cursor, &zoom);
 *	tree_memory_deinit(&memory);
 */
#ifndef VIEW_TUI_TREE_MEMORY_H
#define VIEW_TUI_TREE_MEMORY_H

#include "profile/flame_tree.h"

struct tree_memory {
	struct intern ways; /* Paths: the number of the parent's path, and the label's name, object and address. */
	bool *is_open; /* Indexed by path. */
	uint32_t cursor, zoom; /* Paths; INTERN_NONE if there is none. */
	bool failed; /* Memory ran out. */
};

/* Stores the state of a tree. is_open is indexed by node, or NULL if none is open. cursor and zoom are PROFILE_NONE for
 * the root. */
void tree_memory_note(
	struct tree_memory *memory, const struct flame_tree *tree, const bool *is_open, uint32_t cursor, uint32_t zoom);
/* Restores the state in another tree: missing nodes become PROFILE_NONE or are not open. Returns false when out of
 * memory. */
bool tree_memory_find(const struct tree_memory *memory, const struct flame_tree *tree, bool *is_open, uint32_t *cursor,
	uint32_t *zoom);
void tree_memory_deinit(struct tree_memory *memory);

#endif
