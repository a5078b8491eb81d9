/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - resolves addresses of samples to frames (a binary and an address in it), and call chains to stacks. Equal
 * frames and equal stacks are stored once.
 *
 * One resolver per worker; it borrows a finished machine. IDs are the resolver's own, dense, in order of first use. Not
 * thread-safe. When memory runs out, functions set `failed`; their results must then not be used.
 *
 *	resolver_init(&r, machine, swap);  where = resolver_where(&r, pid, time_ns);
 *	frame = resolver_frame(&r, &where, cpumode, ip);  chain = resolver_chain_frames(&r, &where, &sample.callchain);
 */
#ifndef ANALYSIS_RESOLVE_H
#define ANALYSIS_RESOLVE_H

#include <limits.h>

#include "abi/sample.h"
#include "analysis/deferred_chains.h"
#include "analysis/lbr_stitch.h"
#include "analysis/sample_unwind.h"
#include "base/id_table.h"
#include "base/list_table.h"
#include "base/map_u64.h"
#include "base/vec.h"
#include "machine/machine.h"

#define RESOLVE_NONE UINT32_MAX
/* Maximum number of words of a frame's key. Frames without a run-time address have one less, so that two keys share a
 * cache line. */
#define RESOLVED_FRAME_WORDS 3

struct resolved_frame {
	uint64_t address; /* Address in the binary; the run-time address if there is no binary. */
	uint64_t raw_address; /* Run-time address; 0 if not kept. */
	uint32_t binary; /* The machine's index; RESOLVE_NONE if nothing was mapped there. */
	uint32_t level; /* Privilege level as the letter that profile and perf use: k . H g u; 0 if unknown. */
	/* The frame is a caller that was recorded by its return address. address is one less, inside the call, because
	 * the instruction after the call may belong to another line, inlined call or function. */
	bool is_return;
	uint32_t branch; /* From profile_branch_pack; 0 if the frame is not part of a branch. */
};

/* A slot of the cache of resolved addresses, which is indexed by a hash of address and epoch. */
struct resolve_cache_slot {
	uint64_t address;
	uint32_t epoch;
	uint32_t frame; /* ID of the frame + 1; 0 if the slot is empty. */
	uint32_t cpumode;
};

/* Flag added to a cpumode if the address is a return address. */
#define RESOLVE_RETURN 0x80u

struct resolve_where { /* Process and time of a sample. The epochs identify the mappings that were valid then. */
	int32_t pid;
	uint64_t time_ns;
	uint32_t user_epoch, kernel_epoch;
};

struct resolve_epoch { /* Cached epoch of a process. */
	int32_t pid;
	uint32_t epoch;
	struct valid_span span; /* Time in which the epoch is valid; empty if unknown. */
};
#define RESOLVE_EPOCHS 64

struct resolve_range { /* A range of addresses that belong to the same mapping, or to none. */
	struct address_range range;
	uint64_t delta; /* Added to a run-time address to get the address in the binary. */
	uint32_t binary;
};
#define RESOLVE_RANGES 8

struct resolve_ranges { /* The last look-ups in an epoch; most addresses of a chain lie in a few files. */
	uint32_t epoch, cpumode;
	unsigned count; /* Number of stored look-ups so far; each one replaces the oldest. */
	struct resolve_range items[RESOLVE_RANGES];
};

/*
 * An address in a batch of addresses that are looked up together. Samples of short-lived programs are always at new
 * addresses, and each look-up waits for memory several times; in a batch, these waits overlap. Frames are created in
 * the order of the addresses:
 *
 *	resolver_addresses_clear(r); resolver_chain_add(r, &where, &chain); ...
 *	resolver_address_put(r, 0, &where, mode, ip); ...
 *	if (resolver_addresses_find(r)) use(r->found.items[0]) ...
 */
struct resolve_address {
	const struct resolve_where *where;
	uint64_t ip;
	uint32_t epoch, cpumode;
};

struct resolve_frame_query { /* An address that is not in the cache. */
	uint64_t ip;
	uint64_t words[RESOLVED_FRAME_WORDS];
	uint32_t epoch, cpumode;
	uint32_t hash;
	uint32_t address; /* Index in resolver.addresses. */
};

struct resolver {
	const struct machine *machine;
	const struct deferred_chains *deferred; /* NULL if the recording has no deferred chains; borrowed. */
	struct sample_unwinder *unwinder; /* NULL if stack dumps are not unwound; borrowed. */
	struct lbr_stitcher *stitcher; /* NULL if LBR call stacks are not extended; borrowed. */
	bool swap;
	bool keeps_cookies; /* Chains stay as recorded, without their deferred parts. */
	bool keep_raw; /* Frames are distinguished by run-time address. */
	unsigned max_stack; /* Limit of frames of a chain; 0 for no limit. */
	/* The last sample's chain was unwound from a stack dump, so max_stack applies to its kernel part and its user
	 * part separately. */
	bool is_unwound;
	/* The user part of the last sample's chain contains addresses of calls, not return addresses. */
	bool names_calls;
	size_t expected; /* Announced number of stacks; 0 if unknown or if memory was already reserved. */
	size_t samples; /* Number of samples so far. */
	struct id_table frames; /* Keys are made by resolved_frame_pack. */
	VEC(uint64_t) first_ips; /* Run-time address at which each frame was first seen. */
	struct list_table stacks; /* Lists of frames, innermost first. */
	VEC(struct resolve_address) addresses; /* The addresses to be looked up. */
	VEC(struct resolve_frame_query) queries; /* The addresses that are not in the cache. */
	VEC(uint32_t) found; /* The frame of each address. */
	VEC(uint32_t) stack_scratch; /* Scratch space of branch_history. */
	VEC(uint64_t) ip_scratch; /* Scratch space for the addresses of resolver_chain_frames. */
	VEC(uint64_t) chain_scratch; /* Scratch space for chains that are joined from parts. */
	VEC(uint64_t) unwind_scratch; /* Scratch space for chains that are unwound from a stack dump. */
	struct resolve_cache_slot *cache;
	struct resolve_epoch epochs[RESOLVE_EPOCHS], kernel_epoch;
	struct resolve_ranges ranges[RESOLVE_EPOCHS]; /* Indexed by a hash of epoch and CPU mode. */
	bool failed; /* Memory ran out. */
};

/* Returns the level of a CPU mode, see struct resolved_frame. */
static inline uint32_t resolver_level(unsigned cpumode)
{
	switch (cpumode) {
	case MISC_CPUMODE_KERNEL:
		return 'k';
	case MISC_CPUMODE_USER:
		return '.';
	case MISC_CPUMODE_HYPERVISOR:
		return 'H';
	case MISC_CPUMODE_GUEST_KERNEL:
		return 'g';
	case MISC_CPUMODE_GUEST_USER:
		return 'u';
	default:
		return 0;
	}
}
/* Returns the recorded address, as an address in the frame's binary. */
static inline uint64_t resolved_frame_shown(const struct resolved_frame *frame)
{
	return frame->address + frame->is_return;
}

/*
 * Determines the CPU mode of each address of a chain, and whether it is a return address. The first address of each
 * part (user, kernel) is the position of the thread; the others are return addresses, or, in the user part of a chain
 * with names_calls, addresses of calls.
 *
 *	for each entry: a mark: if (!chain_modes_mark(&modes, mark)) drop the chain;
 *	                a frame: cpumode = chain_modes_next(&modes) ...
 */
struct chain_modes {
	unsigned cpumode;
	unsigned next, rest; /* CPU modes of the next address and of those after it, with or without RESOLVE_RETURN. */
	bool names_calls;
};
/* Returns false when out of memory. */
bool resolver_init(struct resolver *r, const struct machine *machine, bool swap);
/* Announces the approximate number of stacks, so that memory is reserved at once and tables are not copied when they
 * grow. */
void resolver_expect(struct resolver *r, size_t stacks);
void resolver_deinit(struct resolver *r);
/* Frees everything except frames and stacks. Call it when no more of them will be added. */
void resolver_end_lookups(struct resolver *r);
/* Drops everything that is cached by epoch. Call it after the machine was finished again. */
void resolver_forget_epochs(struct resolver *r);
/* Returns the process and time of a sample with the epochs that are valid then. Call it once for each sample. */
struct resolve_where resolver_where(struct resolver *r, int32_t pid, uint64_t time_ns);
/* Returns the frame of an address. cpumode includes RESOLVE_RETURN for a return address. */
uint32_t resolver_frame(struct resolver *r, const struct resolve_where *where, unsigned cpumode, uint64_t ip);
void resolver_addresses_clear(struct resolver *r);
/* Inserts an address at index, unless the address there is equal, and returns whether it was inserted. *where must stay
 * valid until the addresses are looked up. */
bool resolver_address_put(
	struct resolver *r, size_t index, const struct resolve_where *where, unsigned cpumode, uint64_t ip);
/*
 * Limits a chain to max_stack frames: the whole chain, or, if its user part was unwound from a stack dump, the kernel
 * part and the user part separately.
 *
 *	for each entry: a mark: chain_bound_mark(&bound, mark);
 *	                a frame: if (chain_bound_is_over(&bound)) break; if (chain_bound_takes(&bound)) ...
 */
struct chain_bound {
	unsigned most, left;
	bool is_unwound;
};
/* Returns the bound of the last sample's chain. */
static inline struct chain_bound chain_bound_of(const struct resolver *r)
{
	unsigned most = r->max_stack > 0 ? r->max_stack : UINT_MAX;
	return (struct chain_bound){most, most, r->is_unwound};
}
static inline void chain_bound_mark(struct chain_bound *bound, uint64_t mark)
{
	if (bound->is_unwound && mark == CONTEXT_USER)
		bound->left = bound->most;
}
static inline void chain_modes_begin(struct chain_modes *modes, unsigned cpumode)
{
	bool is_named = modes->names_calls && cpumode == MISC_CPUMODE_USER;
	modes->cpumode = modes->next = cpumode;
	modes->rest = cpumode | (is_named ? 0 : RESOLVE_RETURN);
}
/* Returns the modes of the last sample's chain. */
static inline struct chain_modes chain_modes_of(const struct resolver *r)
{
	struct chain_modes modes = {.names_calls = r->names_calls};
	chain_modes_begin(&modes, MISC_CPUMODE_USER);
	return modes;
}
/* Returns false for an unknown context marker, because perf drops such chains. */
bool chain_modes_mark(struct chain_modes *modes, uint64_t mark);
/* Returns the CPU mode of the next address for resolver_frame, with RESOLVE_RETURN if it is a return address. */
static inline unsigned chain_modes_next(struct chain_modes *modes)
{
	unsigned mode = modes->next;
	modes->next = modes->rest;
	return mode;
}
static inline bool chain_bound_is_over(const struct chain_bound *bound)
{
	return bound->left == 0 && !bound->is_unwound;
}
static inline bool chain_bound_takes(struct chain_bound *bound)
{
	bool takes = bound->left > 0;
	bound->left -= takes;
	return takes;
}
/* Adds all addresses of a chain, without its context markers, and returns their number; 0 also for an invalid chain. */
size_t resolver_chain_add(struct resolver *r, const struct resolve_where *where, const struct sample_array *chain);
/* Looks up all added addresses. Returns false when out of memory. */
bool resolver_addresses_find(struct resolver *r);
/* Announces that the next chain is one that the kernel recorded. */
void resolver_begin_recorded(struct resolver *r);
/* Returns the chain with its deferred part inserted, or without a user part if the deferred part is missing. If
 * keeps_cookies is set, returns the chain as recorded. Valid until the resolver's next chain. */
struct sample_array resolver_whole_chain(struct resolver *r, const struct sample_array *chain);
/* Returns the complete call chain of a sample, valid until the resolver's next one. Its user part is the first
 * available of these: the branches that were recorded as a call stack (LBR); the callers unwound from its stack dump,
 * if they are complete or more than the kernel recorded; the chain that the kernel recorded. */
struct sample_array resolver_sample_chain(struct resolver *r, const struct resolve_where *where,
	const struct record_layout *layout, const struct sample *sample);
struct resolved_chain { /* Innermost first; valid until the resolver's next chain. */
	const uint32_t *frames;
	const uint64_t *ips;
	size_t count; /* 0 also if the chain is invalid. */
};
struct resolved_chain resolver_chain_frames(
	struct resolver *r, const struct resolve_where *where, const struct sample_array *chain);
#define RESOLVE_ANY_MODE UINT32_MAX
/* Returns a frame that is distinguished by run-time address, as needed for branches and data. If cpumode is
 * RESOLVE_ANY_MODE, the process's mapping at the address is used, or else the kernel's. The frame has the given level;
 * if that is 0, it has the level of the mapping's CPU mode. If nothing is mapped there, that is the level of cpumode,
 * or H for RESOLVE_ANY_MODE. */
uint32_t resolver_raw_frame(
	struct resolver *r, const struct resolve_where *where, unsigned cpumode, uint32_t level, uint64_t ip);

/* Returns a copy of the frame that is marked as one end of a branch (profile_branch_pack). ip is its run-time
 * address. */
uint32_t resolver_marked_frame(struct resolver *r, uint32_t frame, uint64_t ip, uint32_t branch);

/* Returns a frame that represents a name instead of code: number identifies the name, and branch its kind, such as
 * BRANCH_END_WAKER. */
uint32_t resolver_named_frame(struct resolver *r, uint32_t number, uint32_t branch);

/* Returns a frame in the same binary whose address is lower by this number of bytes. */
uint32_t resolver_earlier_frame(struct resolver *r, uint32_t frame, uint64_t bytes);

/* Returns the ID of the stack of these frames, innermost first; it is added if it is new. hash is their
 * list_table_hash. */
uint32_t resolver_stack(struct resolver *r, const uint32_t *frames, size_t count, uint32_t hash);

static inline void resolved_frame_pack(const struct resolved_frame *frame, uint64_t words[RESOLVED_FRAME_WORDS])
{
	words[0] = frame->address;
	words[1] = (uint64_t)frame->branch << 40 | (uint64_t)frame->is_return << 39 | (uint64_t)frame->level << 32 |
		   frame->binary;
	words[2] = frame->raw_address;
}

static inline struct resolved_frame resolved_frame_get(const struct id_table *frames, uint32_t frame)
{
	const uint64_t *words = id_table_key(frames, frame);
	return (struct resolved_frame){.address = words[0],
		.raw_address = frames->words == RESOLVED_FRAME_WORDS ? words[2] : 0,
		.binary = (uint32_t)words[1],
		.level = (uint8_t)(words[1] >> 32 & 0x7f),
		.is_return = words[1] >> 39 & 1,
		.branch = (uint32_t)(words[1] >> 40)};
}

#endif
