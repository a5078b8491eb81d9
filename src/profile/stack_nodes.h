/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_nodes.h - merges stacks from their outermost frames: each node is a frame below its caller's node.
 *
 * Nodes are numbered in the order of their first occurrence in a walk over the stacks by ID, each from the outermost
 * frame inwards, so parents precede children. All CPUs are used; the result does not depend on their number. Owned by
 * the caller, who frees it with stack_nodes_deinit; borrows nothing.
 *
 *	uint32_t *ids;   ... for each stack 0, or PROFILE_NONE to leave it out ...
 *	stack_nodes_init(&nodes, profile, names, ids);
 *	if (ids[stack] != PROFILE_NONE) innermost = nodes.items[ids[stack]];
 */
#ifndef PROFILE_STACK_NODES_H
#define PROFILE_STACK_NODES_H

#include "profile/profile.h"

struct stack_node {
	uint32_t parent; /* PROFILE_NONE for an outermost frame. */
	uint32_t frame; /* Number of the frame, from the argument names of stack_nodes_init. */
};

struct stack_nodes {
	struct stack_node *items;
	size_t len, cap;
};

/* Merges stacks. names has, for each of the profile's frames, the number that is stored in its nodes; only equal frames
 * are merged, not those with equal numbers. ids holds PROFILE_NONE for each stack to leave out; the others are set to
 * their innermost node, or to PROFILE_NONE if the stack is empty. Returns false when out of memory or if there are too
 * many nodes; nothing needs to be freed then. */
bool stack_nodes_init(struct stack_nodes *nodes, const struct profile *profile, const uint32_t *names, uint32_t *ids);
/* Appends a node. Returns false when out of memory. */
bool stack_nodes_add(struct stack_nodes *nodes, struct stack_node node);
void stack_nodes_deinit(struct stack_nodes *nodes);

#endif
