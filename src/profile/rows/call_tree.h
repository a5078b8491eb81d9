/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_tree.h - merges the call chains of one row of a flat table into a tree in which they share frames.
 *
 * A node is a run of frames without a fork; chains diverge in its children. A chain that ends within a run also ends
 * the node. Nodes with a sum below the limit are left out with all nodes below them, but do not affect the shape of
 * other nodes. Only displayed nodes are built, so the time for a tree is the number of chains times the depth of the
 * heavy nodes. The builder (scratch memory) is used for many rows in turn and belongs to the caller; its tree is valid
 * until the next build.
 *
 *	struct call_tree_builder b;
 *	call_tree_init(&b, &table, err);
 *	call_tree_build(&b, row, &(struct call_tree_options){.min_period = 10}, err);
 *	for (uint32_t i = 0; i < b.nodes[0].child_count; i++) use(&b.nodes[b.nodes[0].first_child + i]);
 *	call_tree_deinit(&b);
 */
#ifndef PROFILE_ROWS_CALL_TREE_H
#define PROFILE_ROWS_CALL_TREE_H

#include "profile/flat/flat_table.h"

struct call_tree_options {
	uint64_t min_period; /* Minimum sum of a displayed node, including its children. */
	double min_share; /* With is_relative, minimum share of the sum of the parent's children, from 0 to 1. */
	bool is_relative;
	bool keeps_key_order; /* Sort children by address instead of by sum. */
};

struct call_tree_node {
	uint32_t parent;
	uint32_t first_frame, frame_count; /* Range in builder->frames; the root (node 0) has none. */
	uint32_t first_child, child_count; /* Indexes of nodes, heaviest first, equal ones by descending address. */
	uint64_t hit_period, hit_count; /* Chains that end here. */
	/* Chains that continue, including those in nodes that are left out. */
	uint64_t children_period, children_count;
};

struct call_tree_builder {
	const struct flat_table *table;
	struct call_tree_node *nodes;
	size_t node_count, node_cap;
	uint32_t *frames; /* The profile's frames. */
	size_t frame_count, frame_cap;
	struct flat_branches *branches; /* Indexed like frames; NULL if chains have no branches. */
	size_t branch_cap;
	struct flat_instance *work, *scratch; /* Instances of the row, which are grouped by more and more frames. */
	size_t work_cap;
	struct call_tree_range *ranges; /* Each node's range in work. */
	size_t range_cap;
	struct call_tree_bucket *buckets;
	size_t bucket_cap;
	uint32_t *bucket_of_key; /* Index of the bucket + 1 by chain key, while a node is split. */
};

TALLY_MUST_CHECK enum tally_status call_tree_init(
	struct call_tree_builder *b, const struct flat_table *table, struct tally_error *err);
void call_tree_deinit(struct call_tree_builder *b);
TALLY_MUST_CHECK enum tally_status call_tree_build(
	struct call_tree_builder *b, uint32_t row, const struct call_tree_options *options, struct tally_error *err);

static inline uint64_t call_tree_node_period(const struct call_tree_node *node)
{
	return node->hit_period + node->children_period;
}
static inline uint64_t call_tree_node_count(const struct call_tree_node *node)
{
	return node->hit_count + node->children_count;
}

#endif
