/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_remap.h - assigns new addresses to all mappings: absolute addresses are hidden, and distances inside a
 * mapping stay.
 *
 * The assignment does not depend on time: there is one function from old to new addresses for the kernel, and one for
 * each family of processes, which are those that forked from one another, because a child has its parent's mappings.
 * Ranges that touch or overlap stay together. The caller owns it, adds ranges in any order, finishes it, and then looks
 * up addresses. One thread.
 *
 *	address_remap_add(&remap, pid, start, end);  address_remap_fork(&remap, child, parent);
 *	address_remap_finish(&remap, err);
 *	uint64_t new = address_remap_find(&remap, pid, old);
 */
#ifndef ANALYSIS_INJECT_ADDRESS_REMAP_H
#define ANALYSIS_INJECT_ADDRESS_REMAP_H

#include <tally/status.h>

#include "base/map_u64.h"
#include "base/vec.h"

#define ADDRESS_REMAP_KERNEL (-1) /* Stands for the kernel in place of a pid. */

struct address_remap_range { /* The addresses [start, end) move to target and the following ones. */
	uint32_t family;
	uint64_t start, end, target;
};

struct address_remap {
	struct map_u64 members; /* Maps a pid to an index in families. */
	VEC(uint32_t) families; /* Index of the family that each family was merged into, or its own index. */
	/* After address_remap_finish sorted by family and start, and disjoint. */
	VEC(struct address_remap_range) ranges;
};

void address_remap_deinit(struct address_remap *remap);
/* Adds a mapped range; empty ranges are ignored. This function and address_remap_fork return false when out of
 * memory. */
bool address_remap_add(struct address_remap *remap, int32_t pid, uint64_t start, uint64_t end);
bool address_remap_fork(struct address_remap *remap, int32_t child, int32_t parent);
/* Assigns the new addresses. Fails with TALLY_LIMIT if the mappings do not fit into the address space. */
TALLY_MUST_CHECK enum tally_status address_remap_finish(struct address_remap *remap, struct tally_error *err);
/* Returns the new address by the process's mappings, or else by the kernel's; 0 if nothing was mapped there. */
uint64_t address_remap_find(const struct address_remap *remap, int32_t pid, uint64_t address);

#endif
