/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_space.h - stores the history of the mappings of one process image (from exec or fork to the next exec) or of
 * the kernel.
 *
 * It is allocated in an arena of its owner. A forked space refers to its parent's mappings at the time of the fork
 * without a copy; its own mappings have precedence. One thread adds mappings in time order; after address_space_finish,
 * any thread may look them up.
 */
#ifndef MACHINE_ADDRESS_SPACE_H
#define MACHINE_ADDRESS_SPACE_H

#include "base/address.h"
#include "base/arena.h"
#include "base/vec.h"
#include "machine/mapping.h"

#define MAPPING_FOREVER UINT64_MAX
/*
 * Number of levels of forks and execs after which the mappings are copied, so that a lookup stays short. Few recordings
 * have so many levels, because processes that map nothing are skipped.
 */
#define ADDRESS_SPACE_MAX_DEPTH 32

struct address_space {
	struct arena *arena; /* Borrowed from the owner. */
	VEC(struct mapping) mappings; /* In order of arrival; by start after address_space_finish. */
	/* Indices of currently valid mappings, by start, disjoint; used while mappings are added. */
	VEC(uint32_t) active;
	VEC(uint64_t) change_times_ns; /* Times of the changes, ascending. */
	VEC(uint64_t) max_end; /* Element i is the highest end of mappings 0 to i; set by address_space_finish. */
	size_t finished_changes; /* Number of changes at the last finish. */
	const struct address_space
		*parent; /* Its mappings at fork_time_ns are inherited; NULL if there is no parent. */
	uint64_t fork_time_ns;
	unsigned depth; /* Number of ancestors. */
	bool has_anonymous; /* True if mappings may include ones without a file; set by the caller. */
	uint32_t epoch_base; /* Epoch before the first change; set by machine_finish. */
};

/* Initializes an empty space, which is freed with the arena. */
void address_space_init(struct address_space *space, struct arena *arena);
/* Adds a mapping, and ends the covered parts of older mappings at its time_from_ns. Returns false if out of memory. */
bool address_space_map(struct address_space *space, const struct mapping *mapping);
/* Adds the parts of a mapping that are not covered by mappings of generated code, which it does not end. */
bool address_space_map_below(struct address_space *space, const struct mapping *mapping);
bool address_space_unmap(struct address_space *space, uint64_t start, uint64_t end, uint64_t time_ns);
/* Makes an empty space inherit the mappings that parent has at time_ns. parent must outlive child. */
bool address_space_fork(struct address_space *child, const struct address_space *parent, uint64_t time_ns);
/* Adds all mappings that space has at time_ns, own and inherited, to the empty space flat, and sorts flat->active. */
bool address_space_flatten(struct address_space *flat, const struct address_space *space, uint64_t time_ns);
/* Sorts the mappings for lookups. Mappings may be added afterwards, followed by another address_space_finish. */
bool address_space_finish(struct address_space *space);
/* Returns NULL if nothing was mapped at the address. The result is valid until a mapping is added. */
const struct mapping *address_space_find(const struct address_space *space, uint64_t time_ns, uint64_t address);
/* Does what address_space_find does, and narrows range to addresses around it with the same result at that time. */
const struct mapping *address_space_find_range(
	const struct address_space *space, uint64_t time_ns, uint64_t address, struct address_range *range);
/*
 * Returns the number of changes up to and including time_ns. Narrows span, if it is not NULL, to the times around it
 * with the same result.
 */
size_t address_space_changes(const struct address_space *space, uint64_t time_ns, struct valid_span *span);

#endif
