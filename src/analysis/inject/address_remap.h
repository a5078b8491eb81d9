/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_remap.h - assigns new addresses to all mappings: absolute addresses are hidden, and distances inside a
 * mapping stay.
 *
 * The assignment does not depend on time: there is one function from old to new addresses for each family of processes
 * (those that forked from one another, because a child has its parent's mappings), and one for the kernel. Ranges that
 * touch or overlap stay together. The caller owns it, adds ranges in any order, finishes it, and then looks up
 * addresses. One thread.
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

#define ADDRESS_REMAP_KERNEL (-1) /* instead of a process */

struct address_remap_range { /* [start, end) goes to target */
	uint32_t family;
	uint64_t start, end, target;
};

struct address_remap {
	struct map_u64 members; /* by process: index of families */
	VEC(uint32_t) families; /* the family that each one was merged into, or itself */
	VEC(struct address_remap_range) ranges; /* by family and start, apart, once it is finished */
};

void address_remap_deinit(struct address_remap *remap);
/* False: out of memory; so for the next function. Empty ranges are ignored. */
bool address_remap_add(struct address_remap *remap, int32_t pid, uint64_t start, uint64_t end);
bool address_remap_fork(struct address_remap *remap, int32_t child, int32_t parent);
/* LIMIT: the mappings do not fit into the address space. */
TALLY_MUST_CHECK enum tally_status address_remap_finish(struct address_remap *remap, struct tally_error *err);
/* The new address in the process, or else in the kernel; 0: nothing was mapped there. */
uint64_t address_remap_find(const struct address_remap *remap, int32_t pid, uint64_t address);

#endif
