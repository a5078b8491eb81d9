/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_space.h - stores the mappings of one process image (from exec or fork to the next exec) or of the kernel,
 * over time.
 *
 * It is allocated in an arena of its owner. A forked space refers to its parent's mappings at the time of the fork (no
 * copy); its own mappings take precedence. One thread feeds it in time order; after address_space_finish any thread may
 * look up.
 */
#ifndef MACHINE_ADDRESS_SPACE_H
#define MACHINE_ADDRESS_SPACE_H

#include "base/address.h"
#include "base/arena.h"
#include "base/vec.h"
#include "machine/mapping.h"

#define MAPPING_FOREVER UINT64_MAX
/* After this many levels of forks and execs the mappings are copied, so that a look-up stays short. Few recordings have
 * so many levels, since processes that map nothing are skipped. */
#define ADDRESS_SPACE_MAX_DEPTH 32

struct address_space {
	struct arena *arena; /* borrowed */
	VEC(struct mapping) mappings; /* in order of arrival until finish, then by start */
	VEC(uint32_t) active; /* indexes of mappings that are valid now, by start, disjoint; feeding only */
	VEC(uint64_t) change_times_ns; /* one per change, ascending */
	VEC(uint64_t) max_end; /* after finish: highest end of mappings[0..i] */
	size_t finished_changes; /* number of changes at the last finish */
	const struct address_space *parent;
	uint64_t fork_time_ns;
	unsigned depth;
	bool has_anonymous; /* own mappings without a file may be among these; set by the caller */
	uint32_t epoch_base; /* set by machine_finish */
};

/* Empty; it ends with the arena. */
void address_space_init(struct address_space *space, struct arena *arena);
/* Adds a mapping. The parts of older mappings that it covers end at its time_from_ns. False: out of memory. */
bool address_space_map(struct address_space *space, const struct mapping *mapping);
/* The same, but generated code stays where it is. */
bool address_space_map_below(struct address_space *space, const struct mapping *mapping);
bool address_space_unmap(struct address_space *space, uint64_t start, uint64_t end, uint64_t time_ns);
bool address_space_fork(struct address_space *child, const struct address_space *parent, uint64_t time_ns);
/* Adds all mappings of that time, own and inherited, to the empty space flat. Its active list is in order. */
bool address_space_flatten(struct address_space *flat, const struct address_space *space, uint64_t time_ns);
/* May be fed, and finished, again. */
bool address_space_finish(struct address_space *space);
const struct mapping *address_space_find(const struct address_space *space, uint64_t time_ns, uint64_t address);
/* The same, and cuts range to the addresses around it that have the same answer at that time. */
const struct mapping *address_space_find_range(
	const struct address_space *space, uint64_t time_ns, uint64_t address, struct address_range *range);
/* Number of changes up to and including time_ns. span may be NULL. */
size_t address_space_changes(const struct address_space *space, uint64_t time_ns, struct valid_span *span);

#endif
