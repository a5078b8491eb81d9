/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy.h - arranges the rows of a flat table as a tree with one level for each sort key and sums at each node.
 *
 * The table is grouped by all keys; each of its displayed rows is a leaf, and a node adds up the rows below it, which
 * have the same keys up to its level. It borrows the table, which must not have children sums; the caller calls
 * hierarchy_deinit.
 *
 *	struct hierarchy h;
 *	struct hierarchy_options options = {.keys = keys, .levels = levels, .key_count = 3, ...};
 *	hierarchy_init(&h, &table, &options, err);
 *	for (uint32_t i = 0; i < h.root_count; i++) use(&h.nodes[i]);
 *	hierarchy_deinit(&h);
 */
#ifndef PROFILE_ROWS_HIERARCHY_H
#define PROFILE_ROWS_HIERARCHY_H

#include "profile/flat/flat_table.h"

struct hierarchy_options { /* Borrowed while the tree is made. */
	const enum profile_key *keys;
	const uint8_t *levels; /* Level of each key, ascending from 0. */
	size_t key_count;
	const enum profile_key *order; /* Values and keys by which the children of a node are sorted. */
	size_t order_count;
};

struct hierarchy_node {
	uint32_t row; /* Row of the table with the node's keys; for a leaf, the row itself. */
	uint32_t level;
	uint32_t first_child, child_count; /* Indexes of nodes, sorted. */
};

struct hierarchy {
	const struct flat_table *table;
	struct hierarchy_node *nodes; /* Nodes of the first level come first. */
	uint64_t *stats; /* Sums of each node, in the layout of a row's stats. */
	size_t node_count, node_cap, stat_cap;
	uint32_t root_count;
	uint32_t level_count;
};

TALLY_MUST_CHECK enum tally_status hierarchy_init(struct hierarchy *hierarchy, const struct flat_table *table,
	const struct hierarchy_options *options, struct tally_error *err);
void hierarchy_deinit(struct hierarchy *hierarchy);

static inline const struct flat_stat *hierarchy_stats(const struct hierarchy *h, uint32_t node)
{
	return (const struct flat_stat *)&h->stats[node * flat_row_words(h->table)];
}

#endif
