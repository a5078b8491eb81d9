/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_pool.h - converts the unwind tables of files to the form that the walk in the kernel reads: chunks of rows, in
 * blocks, and the distinct rules of all tables (walk_layout.h). It only fills memory that walk_files.c provides.
 *
 * The caller owns the pool and its blocks. Used by one thread. A table that does not fit is counted and not stored.
 *
 *	walk_pool_init(&pool, chunk_max, rule_max, &grower);
 *	if (walk_pool_add(&pool, arch, table, &place)) ... new rules have been appended to pool.rules
 */
#ifndef BPF_WALK_POOL_H
#define BPF_WALK_POOL_H

#include "base/intern.h"
#include "base/vec.h"
#include "bpf/walk_layout.h"
#include "code/unwind/unwind_table.h"

struct walk_place { /* Location of a table. */
	uint32_t chunk, chunk_count;
	uint64_t base; /* Link-time address that corresponds to row address 0. */
};

struct walk_pool_grower {
	/* Returns the next block of WALK_BLOCK_CHUNKS chunks; NULL if there is no more room. */
	struct walk_chunk *(*grow)(void *context, uint32_t block);
	void *context;
};

struct walk_pool {
	struct walk_pool_grower grower;
	VEC(struct walk_chunk *) blocks;
	uint32_t chunk_max, chunks_used, rule_max;
	struct intern rules; /* The distinct struct walk_rule, numbered as in the kernel's array. */
	uint64_t refused; /* Number of tables for which there was no room. */
};

/* Returns false if it is out of memory. */
TALLY_MUST_CHECK bool walk_pool_init(
	struct walk_pool *pool, uint32_t chunk_max, uint32_t rule_max, const struct walk_pool_grower *grower);
void walk_pool_deinit(struct walk_pool *pool);
/* Adds a table and sets *place. Returns false if there is no room for the table or it has no rows. */
bool walk_pool_add(
	struct walk_pool *pool, const struct arch *arch, const struct unwind_table *table, struct walk_place *place);
/* Converts a rule; a rule that is NULL becomes one with WALK_CFA_NONE. */
struct walk_rule walk_rule_of(
	const struct arch *arch, const struct unwind_table *table, const struct unwind_rule *rule);

#endif
