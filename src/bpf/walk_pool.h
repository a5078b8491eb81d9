/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_pool.h - stores the unwind tables of files in the form that the walk in the kernel reads: chunks of rows, in
 * blocks, and the distinct rules of all of them (walk_layout.h). It only fills memory that walk_files.c provides.
 *
 * The caller owns the pool and its blocks. One thread. A file whose table does not fit has none, and is counted.
 *
 *	walk_pool_init(&pool, chunk_count, rule_count, &grower);
 *	if (walk_pool_add(&pool, arch, table, &place)) ... pool.rules from before on are new
 */
#ifndef BPF_WALK_POOL_H
#define BPF_WALK_POOL_H

#include "base/intern.h"
#include "base/vec.h"
#include "bpf/walk_layout.h"
#include "code/unwind/unwind_table.h"

struct walk_place { /* where a table lies */
	uint32_t chunk, chunk_count;
	uint64_t base; /* link-time address that rows count from */
};

struct walk_pool_grower {
	/* The next block, of WALK_BLOCK_CHUNKS; NULL: there is no more. */
	struct walk_chunk *(*grow)(void *context, uint32_t block);
	void *context;
};

struct walk_pool {
	struct walk_pool_grower grower;
	VEC(struct walk_chunk *) blocks;
	uint32_t chunk_max, chunks_used, rule_max;
	struct intern rules; /* struct walk_rule, by their number in the kernel's array */
	uint64_t refused; /* tables that had no room */
};

TALLY_MUST_CHECK bool walk_pool_init(
	struct walk_pool *pool, uint32_t chunk_max, uint32_t rule_max, const struct walk_pool_grower *grower);
void walk_pool_deinit(struct walk_pool *pool);
/* False: the table has no room, or no row. */
bool walk_pool_add(
	struct walk_pool *pool, const struct arch *arch, const struct unwind_table *table, struct walk_place *place);
/* The walk's form of a rule; NULL: there is none. */
struct walk_rule walk_rule_of(
	const struct arch *arch, const struct unwind_table *table, const struct unwind_rule *rule);

#endif
