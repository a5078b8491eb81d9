/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - resolves addresses of samples to frames (a binary and an address in it), and call chains to stacks. Each
 * distinct thing
 *once.
 *
 * One resolver per worker; it borrows a finished machine. Ids are the resolver's own, dense, in order of first use. Not
 * thread-safe.
 *
 *	resolver_init(&r, machine, swap);
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

#define RESOLVE_NONE	     UINT32_MAX
#define RESOLVED_FRAME_WORDS 3 /* one less if no frame keeps its run-time address: two keys share a cache line then */

struct resolved_frame {
	uint64_t address; /* in the binary; the raw address if there is none */
	uint64_t raw_address; /* 0 where not asked for */
	uint32_t binary; /* machine's index, RESOLVE_NONE: nothing was mapped there */
	uint32_t level; /* the letter that profile and perf use: k . H g u, 0 unknown */
	/* A caller, which was recorded by its return address. address is one less, inside the call, because the
	 * instruction after the call may belong to another line, inlined call or function. */
	bool is_return;
	uint32_t branch; /* profile_branch_pack; 0: none */
};

struct resolve_cache_slot {
	uint64_t address;
	uint32_t epoch;
	uint32_t frame; /* + 1; 0: empty */
	uint32_t cpumode;
};

/* Added to a cpumode: the address is a return address. */
#define RESOLVE_RETURN 0x80u

struct resolve_where { /* of one sample; epochs say which mappings were valid */
	int32_t pid;
	uint64_t time_ns;
	uint32_t user_epoch, kernel_epoch;
};

struct resolve_epoch { /* of a process: the result of the last look-up */
	int32_t pid;
	uint32_t epoch;
	struct valid_span span; /* empty: not asked yet */
};
#define RESOLVE_EPOCHS 64

struct resolve_range { /* of addresses that one mapping has, or none */
	struct address_range range;
	uint64_t delta; /* added to an address: that in the binary */
	uint32_t binary;
};
#define RESOLVE_RANGES 8

struct resolve_ranges { /* of an epoch: the results of the last look-ups, because most of a chain lies in a few files */
	uint32_t epoch, cpumode;
	unsigned count; /* asked so far */
	struct resolve_range items[RESOLVE_RANGES];
};

/*
 * Addresses that are looked up together. Samples of short-lived programs are always at new addresses, and each look-up
 * waits for memory several times; together their waits overlap. Frames are made in the order of the addresses:
 *
 *	resolver_addresses_clear(r); resolver_chain_add(r, &where, &chain); resolver_address_put(r, 0, &where, mode, ip); ...
 *	if (resolver_addresses_find(r)) use(r->found.items[0]) ...
 */
struct resolve_address {
	const struct resolve_where *where;
	uint64_t ip;
	uint32_t epoch, cpumode;
};

struct resolve_frame_query { /* an address that is not in the cache */
	uint64_t ip;
	uint64_t words[RESOLVED_FRAME_WORDS];
	uint32_t epoch, cpumode;
	uint32_t hash;
	uint32_t address; /* index of addresses */
};

struct resolver {
	const struct machine *machine;
	const struct deferred_chains *deferred; /* NULL: none came; borrowed */
	struct sample_unwinder *unwinder; /* NULL: stack dumps are left alone; borrowed */
	struct lbr_stitcher *stitcher; /* NULL: LBR call stacks stand for themselves; borrowed */
	bool swap;
	bool keeps_cookies; /* chains are as recorded: those that came later stay apart */
	bool keep_raw; /* frames keep their run-time address apart */
	unsigned max_stack; /* frames of a chain; 0: no bound */
	bool is_unwound; /* the last sample's chain: callers of a stack dump have max_stack frames beside the kernel's */
	bool names_calls; /* the last sample's chain: its user part has addresses of calls, no return addresses */
	size_t expected; /* stacks; 0: not known, or their memory was reserved */
	size_t samples; /* so far */
	struct id_table frames; /* of RESOLVED_FRAME_WORDS: resolved_frame_pack */
	VEC(uint64_t) first_ips; /* by frame: the run-time address that it was first seen at */
	struct list_table stacks; /* of frames, the innermost one first */
	VEC(struct resolve_address) addresses; /* that are being looked for */
	VEC(struct resolve_frame_query) queries; /* of those, what the cache does not have */
	VEC(uint32_t) found; /* frames, by index of addresses */
	VEC(uint32_t) stack_scratch; /* of branch_history */
	VEC(uint64_t) ip_scratch;
	VEC(uint64_t) chain_scratch; /* of whole chains */
	VEC(uint64_t) unwind_scratch; /* of chains made of a stack */
	struct resolve_cache_slot *cache;
	struct resolve_epoch epochs[RESOLVE_EPOCHS], kernel_epoch;
	struct resolve_ranges ranges[RESOLVE_EPOCHS]; /* by epoch */
	bool failed; /* out of memory */
};

/* The level of a CPU mode, see struct resolved_frame. */
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
/* The address as recorded, in the frame's object. */
static inline uint64_t resolved_frame_shown(const struct resolved_frame *frame)
{
	return frame->address + frame->is_return;
}

/*
 * Tells which addresses of a chain are the instruction that a thread was at, and which are return addresses: the first
 * address of each part (user, kernel) is the instruction, unless the chain consists of calls. A value.
 *
 *	for each entry: a mark: if (!chain_modes_mark(&modes, mark)) give up the chain;
 *	                a frame: cpumode = chain_modes_next(&modes) ...
 */
struct chain_modes {
	unsigned cpumode;
	unsigned next, rest; /* the modes of the next address, and of those after it: with RESOLVE_RETURN or without */
	bool names_calls;
};
/* False: out of memory. */
bool resolver_init(struct resolver *r, const struct machine *machine, bool swap);
/* Announces about so many stacks, so that their tables get room at once and are not copied when they grow. */
void resolver_expect(struct resolver *r, size_t stacks);
void resolver_deinit(struct resolver *r);
/* Call it when all frames and stacks exist: frees everything else. */
void resolver_end_lookups(struct resolver *r);
/* Call this when the machine was finished again: entries that are cached by epoch are invalid. */
void resolver_forget_epochs(struct resolver *r);
struct resolve_where resolver_where(struct resolver *r, int32_t pid, uint64_t time_ns);
/* cpumode: with RESOLVE_RETURN for a return address. */
uint32_t resolver_frame(struct resolver *r, const struct resolve_where *where, unsigned cpumode, uint64_t ip);
void resolver_addresses_clear(struct resolver *r);
/* Inserts an address at index, unless the address there is the same; returns whether it was inserted. where must live
 * until the addresses are looked up. */
bool resolver_address_put(
	struct resolver *r, size_t index, const struct resolve_where *where, unsigned cpumode, uint64_t ip);
/*
 * Decides by max_stack which frames of a chain count: so many of the recorded ones, and as many of those unwound from a
 * stack dump.
 *
 *	for each entry: a mark: chain_bound_mark(&bound, mark);
 *	                a frame: if (chain_bound_is_over(&bound)) break; if (chain_bound_takes(&bound)) ...
 */
struct chain_bound {
	unsigned most, left;
	bool is_unwound;
};
/* Of the last sample's chain. */
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
/* Of the last sample's chain. */
static inline struct chain_modes chain_modes_of(const struct resolver *r)
{
	struct chain_modes modes = {.names_calls = r->names_calls};
	chain_modes_begin(&modes, MISC_CPUMODE_USER);
	return modes;
}
/* False for an unknown mark: perf drops such chains. */
bool chain_modes_mark(struct chain_modes *modes, uint64_t mark);
/* For resolver_frame, with RESOLVE_RETURN where it is one. */
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
/* Adds all addresses of a chain, without its marks, and returns how many. 0 also if the chain is invalid. */
size_t resolver_chain_add(struct resolver *r, const struct resolve_where *where, const struct sample_array *chain);
/* False: out of memory. */
bool resolver_addresses_find(struct resolver *r);
/* Says that the next chain is one that the kernel recorded. */
void resolver_begin_recorded(struct resolver *r);
/* The chain with its deferred part inserted, or without a user part if none came. Valid until the resolver's next
 * chain. */
struct sample_array resolver_whole_chain(struct resolver *r, const struct sample_array *chain);
/* The complete call chain of a sample, valid until the resolver's next one. Its user part is the first available of
 * these: the branches that were recorded as a call stack (LBR); the callers unwound from its stack dump, if there are
 * more of them than the kernel recorded; the chain that the kernel recorded. */
struct sample_array resolver_sample_chain(struct resolver *r, const struct resolve_where *where,
	const struct record_layout *layout, const struct sample *sample);
struct resolved_chain { /* innermost first; valid until the resolver's next chain */
	const uint32_t *frames;
	const uint64_t *ips;
	size_t count; /* 0 also if the chain is invalid */
};
struct resolved_chain resolver_chain_frames(
	struct resolver *r, const struct resolve_where *where, const struct sample_array *chain);
#define RESOLVE_ANY_MODE UINT32_MAX
/* Makes one frame for each run-time address, and keeps that address: for branches and data. Such addresses may come
 * without a mode (RESOLVE_ANY_MODE); the mapping at the address then decides, in the program or else in the kernel. The
 * frame's level is the given one; 0: the level of the mapping, or H if nothing is mapped there. */
uint32_t resolver_raw_frame(
	struct resolver *r, const struct resolve_where *where, unsigned cpumode, uint32_t level, uint64_t ip);

/* The same frame as one end of a branch: profile_branch_pack. */
uint32_t resolver_marked_frame(struct resolver *r, uint32_t frame, uint64_t ip, uint32_t branch);

/* A frame without code, which is identified by number; branch is its kind. */
uint32_t resolver_named_frame(struct resolver *r, uint32_t number, uint32_t branch);

/* The frame so many bytes earlier in the same binary. */
uint32_t resolver_earlier_frame(struct resolver *r, uint32_t frame, uint64_t bytes);

/* The stack of frames, the innermost one first; made once. */
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
