/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_lines.h - adds up sampled memory accesses by cache line, and within a line by offset and accessing thread.
 *
 * It gets single accesses and knows nothing about recordings. The caller owns it; one thread. Kinds are those of
 * linux/perf_event.h's union perf_mem_data_src, classified as `perf c2c` does.
 *
 *	cache_lines_init(&lines, &(struct cache_lines_options){.line_bytes = 64});
 *	cache_lines_add(&lines, &access, &entry);	false: out of memory
 *	lines.total.n[ACCESS_LOCAL_HITM] ... lines.lines.items[i], lines.entries.items[i], lines.uses
 *	cache_lines_deinit(&lines);
 */
#ifndef ANALYSIS_CACHE_LINES_H
#define ANALYSIS_CACHE_LINES_H

#include "base/id_table.h"
#include "base/vec.h"

enum access_kind {
	ACCESS_LOCKED,
	ACCESS_LOAD,
	ACCESS_LOAD_UNCACHED,
	ACCESS_LOAD_IO,
	ACCESS_LOAD_MISS,
	ACCESS_LOAD_NO_ADDRESS,
	ACCESS_FILL_BUFFER,
	ACCESS_L1,
	ACCESS_L2,
	ACCESS_LAST_LEVEL, /* without another core's changes */
	ACCESS_LOCAL_HITM,
	ACCESS_REMOTE_HITM,
	ACCESS_REMOTE_HIT,
	ACCESS_LOCAL_DRAM,
	ACCESS_REMOTE_DRAM,
	ACCESS_EXCLUSIVE,
	ACCESS_SHARED,
	ACCESS_BLOCKED_BY_DATA,
	ACCESS_BLOCKED_BY_ADDRESS,
	ACCESS_LOCAL_PEER,
	ACCESS_REMOTE_PEER,
	ACCESS_STORE,
	ACCESS_STORE_UNCACHED,
	ACCESS_STORE_NO_ADDRESS,
	ACCESS_STORE_L1_HIT,
	ACCESS_STORE_L1_MISS,
	ACCESS_STORE_NO_LEVEL,
	ACCESS_NO_MAPPING, /* of the code or the data */
	ACCESS_UNKNOWN, /* neither load nor store */
	ACCESS_KINDS
};

struct access_counts {
	uint64_t n[ACCESS_KINDS];
	uint64_t samples;
};

struct mean {
	uint64_t count;
	double value;
};

#define CACHE_NO_CPU UINT32_MAX

struct cache_access {
	uint64_t address, physical, data_src, weight;
	uint64_t code; /* the address that code_key uses to distinguish code */
	uint64_t keys[3]; /* other parts of an entry's key: process, thread, object; 0: not part of it */
	uint64_t memory,
		place; /* the number of the object that the address belongs to, and the offset in it: both distinguish lines */
	int32_t pid, tid;
	uint32_t cpu; /* CACHE_NO_CPU: it is not known */
	uint32_t frame;
	uint64_t memory_nodes; /* bit by node that the physical address is of */
	bool is_mapped, data_is_mapped; /* both code and data; data */
};

struct cache_line {
	uint64_t address; /* of the first access */
	uint64_t physical, physical_count, memory_nodes;
	bool is_mapped;
	uint64_t memory;
	struct access_counts counts;
};

struct cache_entry { /* accesses at one offset of a line */
	uint32_t line;
	uint64_t offset, code;
	uint32_t frame; /* of the first one */
	int32_t pid, tid;
	uint64_t physical, physical_count, memory_nodes;
	struct access_counts counts;
	struct mean remote_hitm, local_hitm, remote_peer, local_peer, load; /* weights */
};

struct cache_use { /* of an entry by a CPU */
	uint32_t entry, cpu;
	uint64_t hitms, peers, stores;
};

struct cache_lines_options {
	uint64_t line_bytes; /* a power of two */
};

struct cache_lines {
	struct cache_lines_options options;
	struct id_table line_keys, entry_keys, use_keys;
	VEC(struct cache_line) lines; /* by id of line_keys */
	VEC(struct cache_entry) entries;
	VEC(struct cache_use) uses;
	struct access_counts total;
};

void cache_lines_init(struct cache_lines *c, const struct cache_lines_options *options);
void cache_lines_deinit(struct cache_lines *c);
/* entry: the one that the access was added to. False: out of memory. */
bool cache_lines_add(struct cache_lines *c, const struct cache_access *access, uint32_t *entry);

/* Counts the kinds of one access. */
void access_counts_add(struct access_counts *counts, const struct cache_access *access);
void access_counts_merge(struct access_counts *to, const struct access_counts *from);
/* Loads of known level, stores of known level, both as perf's tables have them. */
uint64_t access_counts_loads(const struct access_counts *c);
uint64_t access_counts_stores(const struct access_counts *c);
uint64_t access_counts_hitms(const struct access_counts *c);
uint64_t access_counts_peers(const struct access_counts *c);

#endif
