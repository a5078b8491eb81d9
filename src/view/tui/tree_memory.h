/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_memory.h - remembers paths through a tree of stacks by name, so that open nodes and the cursor are found again
 * in a tree of another profile.
 *
 * Owned by the caller (tree_memory_deinit); it serves for one refresh, and the noted tree may be destroyed before that.
 *
 *	tree_memory_note(&memory, &old_tree, nodes_that_are_open, node_of_the_cursor, node_of_the_zoom);
 *	tree_memory_find(&memory, &new_tree, is_open, &cursor, &zoom);
 *	tree_memory_deinit(&memory);
 */
#ifndef VIEW_TUI_TREE_MEMORY_H
#define VIEW_TUI_TREE_MEMORY_H

#include "profile/flame_tree.h"

struct tree_memory {
	struct intern ways; /* the way above, by its number, and the label's name, object and address */
	bool *is_open; /* by way */
	uint32_t cursor, zoom; /* ways; INTERN_NONE: none */
	bool failed; /* memory runs out */
};

/* is_open: by node, NULL: nothing is. PROFILE_NONE: the root of all. */
void tree_memory_note(
	struct tree_memory *memory, const struct flame_tree *tree, const bool *is_open, uint32_t cursor, uint32_t zoom);
/* The same of another tree; what is not there any more is PROFILE_NONE, or was not open. False: out of memory. */
bool tree_memory_find(const struct tree_memory *memory, const struct flame_tree *tree, bool *is_open, uint32_t *cursor,
	uint32_t *zoom);
void tree_memory_deinit(struct tree_memory *memory);

#endif
