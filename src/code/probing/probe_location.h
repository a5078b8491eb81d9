/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_location.h - translates the location of a variable at one address into the steps by which the kernel can fetch
 * it: a register, an address or a number, then offsets with memory reads between them.
 *
 * The locator borrows everything; reasons are in its arena. Bad input: an expression that is truncated, or needs steps
 * that the kernel does not have, results in a location of kind NONE with the reason.
 *
 *	probe_location_find(&locator, &variable, &location);
 *	if (location.kind == PROBE_LOCATION_NONE) ... location.reason
 */
#ifndef CODE_PROBING_PROBE_LOCATION_H
#define CODE_PROBING_PROBE_LOCATION_H

#include "code/probing/probe_frame.h"
#include "object/dwarf/dwarf_scope.h"

#define PROBE_READS_MAX	 12 /* Maximum number of offsets of a chain; the kernel allows 16 steps for one value. */
#define PROBE_PIECES_MAX 16
#define PROBE_LIST_STEPS_MAX \
	(1u << 20) /* Limit for one place: hostile variables can share a long list; real ones have some thousands. */

/* A chain of memory reads: the first sum is base + offsets[0]; each further sum is the word in memory at the previous
 * sum, plus the next offset. */
struct probe_chain {
	enum probe_chain_base { PROBE_BASE_REGISTER, PROBE_BASE_ADDRESS, PROBE_BASE_NUMBER } base;
	uint32_t reg; /* DWARF register number. */
	uint32_t count; /* Number of offsets, at least 1. */
	uint64_t number; /* The address (link-time, as in the debug information) or the number. */
	int64_t offsets[PROBE_READS_MAX];
	bool is_memory; /* The value is in memory at the last sum; otherwise it is the last sum. */
	unsigned shift; /* If the value is the sum: the first bit that belongs to it. */
	unsigned bits; /* If the value is the sum: number of its bits from shift on; 0 means all. */
	bool is_extended; /* The value is sign-extended from its highest bit. */
};

/* A part of a value that is stored in several places. */
struct probe_piece {
	struct probe_chain chain;
	uint64_t bytes;
	bool is_missing; /* The part was optimised out. */
};

struct probe_location {
	enum probe_location_kind {
		PROBE_LOCATION_NONE,
		PROBE_LOCATION_CHAIN,
		PROBE_LOCATION_PIECES,
		PROBE_LOCATION_POINTER, /* A pointer to target + target_offset that is not stored itself. */
		PROBE_LOCATION_BYTES /* The value is in bytes. */
	} kind;
	struct probe_chain chain;
	struct probe_piece pieces[PROBE_PIECES_MAX];
	size_t piece_count;
	struct dwarf_reference target;
	int64_t target_offset;
	struct tally_bytes bytes;
	bool is_elsewhere; /* Kind NONE: it has a location at other addresses. */
	bool is_described; /* Kind NONE: it exists at the address, but the kernel cannot fetch it. */
	const char *reason; /* Kind NONE: reason, such as "it is in %xmm0, which the kernel cannot read". */
};

struct probe_locator {
	const struct probe_binary *binary;
	const struct probe_place *place;
	const struct dwarf_location_lists *lists;
	const struct dwarf_location *frame_base;
	uint64_t address; /* Address of the place, as in the debug information. */
	uint64_t function_entry; /* Address at which the function is entered, as in the debug information. */
	struct arena *arena;
	uint32_t list_steps; /* Number of location list entries that were read; limited to PROBE_LIST_STEPS_MAX. */
	bool has_frame; /* frame is valid for base register frame_reg. */
	uint32_t frame_reg; /* Base register for which frame was found. */
	struct probe_frame frame;
	bool out_of_memory;
};

void probe_location_find(
	struct probe_locator *locator, const struct dwarf_scope_variable *variable, struct probe_location *location);
/* Works like dwarf_location_next; also returns false if the place exceeds PROBE_LIST_STEPS_MAX. */
bool probe_list_next(struct probe_locator *locator, struct dwarf_location_list *list, uint64_t *low, uint64_t *high,
	struct tally_bytes *expression);
/* Returns the register's name in the arena, such as "%di"; NULL if the kernel has no such register, or memory runs
 * out. */
const char *probe_register_name(struct probe_locator *locator, uint32_t reg);
/* Returns the name of any register for a message, such as "%di", or "%xmm0", which probes cannot read; "" if memory
 * runs out. */
const char *probe_register_words(struct probe_locator *locator, uint32_t reg);

#endif
