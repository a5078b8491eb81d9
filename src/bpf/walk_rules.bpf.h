/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * walk_rules.bpf.h - finds the unwind rule of an address, in a cache of recently used rules and in the tables that
 * walk_tables.c made. Included by walk.bpf.h.
 */
#ifndef BPF_WALK_RULES_BPF_H
#define BPF_WALK_RULES_BPF_H

#include "bpf/kernel_types.bpf.h"
#include "bpf/walk_layout.h"
#include "bpf/walk_space.bpf.h"

#define WALK_RECENT 4096 /* Number of elements of the cache; a power of two. */
#define WALK_HASH   0x9e3779b97f4a7c15ULL
/* Mask of the rule in an element of walk_recent; table, address and a used bit are above it. */
#define WALK_RULE_MASK (WALK_RULES - 1ULL)

struct walk_block {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WALK_BLOCK_CHUNKS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct walk_chunk));
};

struct { /* walk_files.c creates the blocks. */
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, WALK_BLOCKS);
	__type(key, __u32);
	__array(values, struct walk_block);
} walk_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WALK_RULES);
	__type(key, __u32);
	__type(value, struct walk_rule);
} walk_rules SEC(".maps");

/* Cache of rules. Each element is one word, so that CPUs can share them without a lock. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WALK_RECENT);
	__type(key, __u32);
	__type(value, __u64);
} walk_recent SEC(".maps");

static __always_inline const struct walk_chunk *walk_chunk_at(__u32 index)
{
	__u32 block = index / WALK_BLOCK_CHUNKS, key = index % WALK_BLOCK_CHUNKS;
	void *chunks = bpf_map_lookup_elem(&walk_rows, &block);
	return chunks ? bpf_map_lookup_elem(chunks, &key) : NULL;
}

/* Returns the chunk that contains the last row at or before the address. */
static __always_inline const struct walk_chunk *walk_find_chunk(const struct walk_mapping *code, __u64 address)
{
	__u32 index = 0;
	if (code->chunk_count > 1) {
/*
 * Without unrolling, the compiler may place the end of the loop right before its beginning, which the verifier of Linux
 * 6.1 rejects.
 */
#pragma clang loop unroll(full)
		for (__u32 step = WALK_CHUNKS_A_TABLE / 2; step > 0; step /= 2) {
			__u32 next = index + step;
			__u64 is_there = walk_if_less(next, code->chunk_count);
			const struct walk_chunk *chunk = walk_chunk_at(code->chunk + (__u32)(next & is_there));
			if (!chunk)
				return NULL;
			index += (__u32)(step & is_there & ~walk_if_less(address, chunk->rows[0].address));
		}
	}
	return walk_chunk_at(code->chunk + index);
}

/*
 * Bounds an index explicitly. The compiler knows that it is small enough and would omit the mask, but the verifier of
 * Linux 6.1 does not.
 */
static __always_inline __u32 walk_row_at(__u32 index)
{
	barrier_var(index);
	return index & (WALK_CHUNK_ROWS - 1);
}

/* Returns the rule of the last row at or before the address; WALK_NO_RULE if there is none. */
static __always_inline __u32 walk_search_rule(const struct walk_mapping *code, __u64 address)
{
	const struct walk_chunk *chunk = walk_find_chunk(code, address);
	if (!chunk)
		return WALK_NO_RULE;
	__u32 index = 0;
	for (__u32 step = WALK_CHUNK_ROWS / 2; step > 0; step /= 2)
		index += (__u32)(step & ~walk_if_less(address, chunk->rows[walk_row_at(index + step)].address));
	const struct walk_row *row = &chunk->rows[walk_row_at(index)];
	return row->address > address ? WALK_NO_RULE : row->rule;
}

/*
 * Returns the rule for pc, an address in the mapping code; NULL if none is known. Cached results remain valid, because
 * tables never change.
 */
static __always_inline const struct walk_rule *walk_find_rule(const struct walk_mapping *code, __u64 pc)
{
	__u64 address = pc - code->bias;
	if (!code->has_table || address >= WALK_NO_ADDRESS)
		return NULL;
	__u64 question = 1ULL << 63 | (__u64)code->chunk << 48 | address << 16;
	__u32 key = (__u32)(question * WALK_HASH >> 32) & (WALK_RECENT - 1);
	__u64 *recent = bpf_map_lookup_elem(&walk_recent, &key);
	if (!recent)
		return NULL;
	__u64 answer = *(volatile __u64 *)recent;
	__u32 rule = (__u32)(answer & WALK_RULE_MASK);
	if ((answer & ~WALK_RULE_MASK) != question) {
		rule = walk_search_rule(code, address);
		*(volatile __u64 *)recent = question | (rule & WALK_RULE_MASK);
	}
	if (rule == WALK_NO_RULE)
		return NULL;
	return bpf_map_lookup_elem(&walk_rules, &rule);
}

#endif
