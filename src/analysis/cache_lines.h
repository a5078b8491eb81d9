/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_lines.h - adds up sampled memory accesses by cache line, and within a line by offset and accessing thread.
 *
 * It is fed with single accesses and does not depend on recordings. The caller owns it; one thread. Kinds are those of
 * union perf_mem_data_src in linux/perf_event.h, classified as `perf c2c` does.
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

/* Kinds of accesses, as `perf c2c` distinguishes them. An access may belong to several kinds. HITM: the line had been
 * modified in the cache of another core. Peer: the line came from the cache of another core. */
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
	ACCESS_LAST_LEVEL, /* Last-level cache hits that no other core had modified. */
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
	ACCESS_NO_MAPPING, /* The code address, the data address or both are not mapped. */
	ACCESS_UNKNOWN, /* The access is neither a load nor a store. */
	ACCESS_KINDS
};

struct access_counts {
	uint64_t n[ACCESS_KINDS]; /* Number of accesses of each kind. */
	uint64_t samples; /* Number of all accesses. */
};

struct mean {
	uint64_t count;
	double value;
};

#define CACHE_NO_CPU UINT32_MAX

struct cache_access {
	/* From the sample. data_src is a union perf_mem_data_src; physical is ignored if memory_nodes is 0. */
	uint64_t address, physical, data_src, weight;
	/* Code address as part of an entry's key; 0 if entries are not separated by code. */
	uint64_t code;
	/* Further parts of an entry's key, such as process, thread and object; 0 for a part that is not used. */
	uint64_t keys[3];
	/* Number of the address space or file that the address belongs to, and the address or offset there. Together
	 * they identify the line, so that processes that share a file share its lines. */
	uint64_t memory, place;
	int32_t pid, tid;
	uint32_t cpu; /* CACHE_NO_CPU if unknown. */
	uint32_t frame; /* ID of the frame of the code address; copied to the entry. */
	/* Bit mask of NUMA nodes, with the bit of the node that holds the physical address; 0 if unknown. */
	uint64_t memory_nodes;
	/* is_mapped: both the code and the data address are mapped; data_is_mapped: the data address is. */
	bool is_mapped, data_is_mapped;
};

struct cache_line {
	uint64_t address; /* Address of the start of the line in the first access to it. */
	/* The last known physical address, how often it changed (including the first one), and the nodes of all
	 * accesses. */
	uint64_t physical, physical_count, memory_nodes;
	bool is_mapped; /* The address of the first access is mapped. */
	uint64_t memory;
	struct access_counts counts;
};

struct cache_entry { /* Accesses at one offset of a line that share all parts of the key. */
	uint32_t line; /* Index in cache_lines.lines. */
	uint64_t offset, code;
	uint32_t frame; /* From the first access. */
	int32_t pid, tid;
	/* The same values as in struct cache_line, of this entry. */
	uint64_t physical, physical_count, memory_nodes;
	struct access_counts counts;
	/* Mean weights of the accesses of each kind. */
	struct mean remote_hitm, local_hitm, remote_peer, local_peer, load;
};

struct cache_use { /* Accesses of one CPU to an entry. */
	uint32_t entry, cpu; /* entry is an index in cache_lines.entries. */
	uint64_t hitms, peers, stores;
};

struct cache_lines_options {
	uint64_t line_bytes; /* Must be a power of two. */
};

struct cache_lines {
	struct cache_lines_options options;
	struct id_table line_keys, entry_keys, use_keys;
	/* lines, entries and uses are indexed by the IDs of line_keys, entry_keys and use_keys. */
	VEC(struct cache_line) lines;
	VEC(struct cache_entry) entries;
	VEC(struct cache_use) uses;
	struct access_counts total;
};

void cache_lines_init(struct cache_lines *c, const struct cache_lines_options *options);
void cache_lines_deinit(struct cache_lines *c);
/* Adds an access and sets *entry to the entry that it was added to. Returns false when out of memory. */
bool cache_lines_add(struct cache_lines *c, const struct cache_access *access, uint32_t *entry);

/* Adds one access to the counts of all kinds that it belongs to. */
void access_counts_add(struct access_counts *counts, const struct cache_access *access);
void access_counts_merge(struct access_counts *to, const struct access_counts *from);
/* Return the number of loads and of stores for which the level of the cache or memory is known, as the tables of `perf
 * c2c` define them. */
uint64_t access_counts_loads(const struct access_counts *c);
uint64_t access_counts_stores(const struct access_counts *c);
/* Return the number of HITM and of peer accesses, local and remote ones together. */
uint64_t access_counts_hitms(const struct access_counts *c);
uint64_t access_counts_peers(const struct access_counts *c);

#endif
