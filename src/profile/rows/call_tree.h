/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_tree.h - merges the call chains of one row of a flat table into a tree where they share frames. Drawing is done
 * elsewhere.
 *
 * A node is a run of frames without a fork; its children are where the chains part. A chain that ends inside ends its
 * node. Nodes whose sum is below the limit are left out with all below them; a node keeps its own shape nevertheless.
 * Only displayed nodes are built, so the time for a tree is the number of chains times the depth of the heavy nodes.
 * The builder (scratch memory) is used for many rows in turn and belongs to the caller; the tree in it lives until the
 * next build.
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
	uint64_t min_period; /* of a node with its children */
	double min_share; /* when is_relative: of the parent's children sum, 0..1 */
	bool is_relative;
	bool keeps_key_order; /* children by address rather than by sum */
};

struct call_tree_node {
	uint32_t parent;
	uint32_t first_frame, frame_count; /* in builder->frames; the root (node 0) has none */
	uint32_t first_child, child_count; /* nodes, heaviest first; equal ones by descending address */
	uint64_t hit_period, hit_count; /* chains that end here */
	uint64_t children_period, children_count; /* chains that go on, those left out included */
};

struct call_tree_builder {
	const struct flat_table *table;
	struct call_tree_node *nodes;
	size_t node_count, node_cap;
	uint32_t *frames; /* profile frame ids */
	size_t frame_count, frame_cap;
	struct flat_branches *branches; /* by frames; NULL: chains have none */
	size_t branch_cap;
	struct flat_instance *work, *scratch; /* instances of the row, grouped ever finer */
	size_t work_cap;
	struct call_tree_range *ranges; /* by node: its part of work */
	size_t range_cap;
	struct call_tree_bucket *buckets;
	size_t bucket_cap;
	uint32_t *bucket_of_key; /* by chain key: bucket + 1 while one node is split */
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
