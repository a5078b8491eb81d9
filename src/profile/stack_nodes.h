/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_nodes.h - merges stacks from their outermost frames: each node is a frame below its caller's node.
 *
 * Nodes are numbered in the order of their first occurrence in a walk over the stacks by ID, each from the outermost
 * frame inwards, so parents come before children. All CPUs take part; the result does not depend on their number. Owned
 * by the caller, who frees it by stack_nodes_deinit; borrows nothing.
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

/* names: the node names of the profile's frames. ids: for each stack, PROFILE_NONE to leave it out; the others get
 * their innermost node (PROFILE_NONE: the stack is empty). False: out of memory, or there are too many nodes; then
 * nothing needs to be freed. */
bool stack_nodes_init(struct stack_nodes *nodes, const struct profile *profile, const uint32_t *names, uint32_t *ids);
/* One more; false: out of memory. */
bool stack_nodes_add(struct stack_nodes *nodes, struct stack_node node);
void stack_nodes_deinit(struct stack_nodes *nodes);

#endif
