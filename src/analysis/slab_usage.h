/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slab_usage.h - adds up what the kernel's slab allocator allocated and freed, by call site and by object.
 *
 * The caller owns it (slab_usage_init) and feeds events in order of time. One thread. slab_usage_alloc returns false
 * when out of memory.
 *
 *	slab_usage_alloc(&u, &(struct slab_alloc){.address = ptr, .call_site = site, .requested = 11, .allocated = 16});
 *	slab_usage_free(&u, ptr, cpu);
 */
#ifndef ANALYSIS_SLAB_USAGE_H
#define ANALYSIS_SLAB_USAGE_H

#include "base/id_table.h"
#include "base/vec.h"

struct slab_row {
	uint64_t address; /* Address of the object or of the call site. */
	uint64_t requested, allocated; /* Bytes of all allocations. */
	uint64_t hits, ping_pongs; /* ping_pongs: objects that were freed on another CPU than they were allocated on. */
};

struct slab_alloc {
	uint64_t address, call_site;
	uint64_t requested, allocated; /* In bytes. */
	int32_t cpu;
	bool is_other_node; /* The object lies on another NUMA node than the CPU. */
};

struct slab_object {
	uint64_t last_bytes; /* Bytes of its last allocation. */
	uint32_t caller; /* Index in slab_usage.callers. */
	int32_t cpu; /* CPU that allocated it; -1 if it is free. */
};

struct slab_usage {
	struct id_table object_ids, caller_ids; /* Indexes of objects and callers, by address. */
	VEC(struct slab_row) objects, callers;
	VEC(struct slab_object) states; /* Indexed by object. */
	uint64_t allocations, other_node; /* other_node: objects on another NUMA node than the allocating CPU. */
	uint64_t requested, allocated, freed; /* In bytes. */
	uint64_t unknown_frees; /* Freed objects that were allocated before the recording. */
};

void slab_usage_init(struct slab_usage *u);
void slab_usage_deinit(struct slab_usage *u);
bool slab_usage_alloc(struct slab_usage *u, const struct slab_alloc *alloc);
void slab_usage_free(struct slab_usage *u, uint64_t address, int32_t cpu);
/* Returns the share of the allocated bytes that were not requested, in percent. */
double slab_fragmentation(uint64_t requested, uint64_t allocated);

#endif
