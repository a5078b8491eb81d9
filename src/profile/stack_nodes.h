/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_nodes.h - merges stacks from their outermost frames: each node is a frame below its caller's node.
 *
 * Nodes have the numbers that a walk over the stacks by id, from the outermost frame inwards, would give them as it
 * meets them first: parents stand before children. Made on all CPUs; the result does not depend on how many there are.
 * Owned by the caller, who frees it by stack_nodes_deinit; borrows nothing.
 *
 *	uint32_t *ids;   ... by stack: 0 for those that are wanted, PROFILE_NONE for others ...
 *	stack_nodes_init(&nodes, profile, names, ids);
 *	if (ids[stack] != PROFILE_NONE) innermost = nodes.items[ids[stack]];
 */
#ifndef PROFILE_STACK_NODES_H
#define PROFILE_STACK_NODES_H

#include "profile/profile.h"

struct stack_node {
	uint32_t parent; /* PROFILE_NONE: outermost */
	uint32_t frame; /* as the caller names it */
};

struct stack_nodes {
	struct stack_node *items;
	size_t len, cap;
};

/* names: what nodes call the profile's frames. ids: by stack, PROFILE_NONE where it is left out; the others get their
 * innermost node (PROFILE_NONE: the stack is empty). False: out of memory, or of numbers; nothing is to be freed. */
bool stack_nodes_init(struct stack_nodes *nodes, const struct profile *profile, const uint32_t *names, uint32_t *ids);
/* One more; false: out of memory. */
bool stack_nodes_add(struct stack_nodes *nodes, struct stack_node node);
void stack_nodes_deinit(struct stack_nodes *nodes);

#endif
