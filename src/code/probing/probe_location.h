/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_location.h - translates the location of a variable at one address into the steps that the kernel can take to
 * fetch it: a register, an address or a number, then offsets with a read of memory between them.
 *
 * The locator borrows everything; reasons lie in its arena. Bad input: an expression that is cut, or takes steps that
 * the kernel does not have, gives a location of kind NONE with the reason.
 *
 *	probe_location_find(&locator, &variable, &location);
 *	if (location.kind == PROBE_LOCATION_NONE) ... location.reason
 */
#ifndef CODE_PROBING_PROBE_LOCATION_H
#define CODE_PROBING_PROBE_LOCATION_H

#include "code/probing/probe_frame.h"
#include "object/dwarf/dwarf_scope.h"

#define PROBE_READS_MAX	 12 /* of memory for one value: the kernel takes 16 steps in all */
#define PROBE_PIECES_MAX 16
#define PROBE_LIST_STEPS_MAX \
	(1u << 20) /* for one place: hostile variables can share a long list; real ones have some thousands */

struct probe_chain { /* the sum of base and offsets[0]; the memory at each sum and the next offset are the next sum */
	enum probe_chain_base { PROBE_BASE_REGISTER, PROBE_BASE_ADDRESS, PROBE_BASE_NUMBER } base;
	uint32_t reg; /* DWARF's number */
	uint32_t count; /* of offsets, at least 1 */
	uint64_t number; /* the address (link-time, as the debug information has it) or the number */
	int64_t offsets[PROBE_READS_MAX];
	bool is_memory; /* the value is in memory at the last sum; otherwise it is the last sum */
	unsigned shift; /* of a sum: its bits from this one on are the value */
	unsigned bits; /* of a sum: so many of these are the value; 0: all */
	bool is_extended; /* of those bits: the highest is the sign */
};

struct probe_piece { /* of a value that lies in several places */
	struct probe_chain chain;
	uint64_t bytes;
	bool is_missing; /* it was optimised out */
};

struct probe_location {
	enum probe_location_kind {
		PROBE_LOCATION_NONE,
		PROBE_LOCATION_CHAIN,
		PROBE_LOCATION_PIECES,
		PROBE_LOCATION_POINTER, /* it points to target + target_offset, and has no value itself */
		PROBE_LOCATION_BYTES /* it is these */
	} kind;
	struct probe_chain chain;
	struct probe_piece pieces[PROBE_PIECES_MAX];
	size_t piece_count;
	struct dwarf_reference target;
	int64_t target_offset;
	struct tally_bytes bytes;
	bool is_elsewhere; /* of NONE: there are addresses at which it has a location */
	bool is_described; /* of NONE: it is there, but not where the kernel can fetch it */
	const char *reason; /* of NONE: "it is in %xmm0, which the kernel cannot read" */
};

struct probe_locator {
	const struct probe_binary *binary;
	const struct probe_place *place;
	const struct dwarf_location_lists *lists;
	const struct dwarf_location *frame_base;
	uint64_t address; /* of the place, as the debug information has it */
	uint64_t function_entry; /* likewise */
	struct arena *arena;
	uint32_t list_steps; /* of location lists that were read: see PROBE_LIST_STEPS_MAX */
	bool has_frame; /* the last one that was looked for */
	uint32_t frame_reg; /* by this base */
	struct probe_frame frame;
	bool out_of_memory;
};

void probe_location_find(
	struct probe_locator *locator, const struct dwarf_scope_variable *variable, struct probe_location *location);
/* As dwarf_location_next; false too when the place has read too many. */
bool probe_list_next(struct probe_locator *locator, struct dwarf_location_list *list, uint64_t *low, uint64_t *high,
	struct tally_bytes *expression);
/* "%di" in the arena; NULL: the kernel has no such register, or out of memory. */
const char *probe_register_name(struct probe_locator *locator, uint32_t reg);
/* The same of registers too that the kernel does not give to probes ("%xmm0"), for messages. */
const char *probe_register_words(struct probe_locator *locator, uint32_t reg);

#endif
