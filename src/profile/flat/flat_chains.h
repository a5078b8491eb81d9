/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_chains.h - prepares the call chains for the rows of a table: each stack once, in the requested order and without
 * excluded frames. Used only by flat_table.
 *
 *	struct flat_chains chains;
 *	if (flat_chains_make(&chains, profile, options)) ... whole = flat_chains_of(&chains, profile, sample); ...
 *	flat_chains_deinit(&chains);
 */
#ifndef PROFILE_FLAT_FLAT_CHAINS_H
#define PROFILE_FLAT_FLAT_CHAINS_H

#include "profile/flat/flat_table.h"

struct flat_chains {
	uint32_t *frames; /* All chains, one after another. */
	/* Index in frames of each stack's chain, with one more entry at the end; NULL if the options need no chains. */
	uint32_t *begin;
	bool is_cut; /* Some stack has more calls than the options' max_stack. */
};

/* Returns false when out of memory. */
bool flat_chains_make(struct flat_chains *chains, const struct profile *profile, const struct flat_options *options);
void flat_chains_deinit(struct flat_chains *chains);
struct flat_counted { /* The counted frames of a stack, innermost first. */
	/* Kernel frames of a stack with user callers that were unwound from a stack dump: max_stack applies to them
	 * separately. */
	struct list kernels;
	struct list others;
};
/* Returns the frames of a stack that max_stack allows, with the calls that were inlined into them. */
struct flat_counted flat_chains_counted(
	const struct profile *profile, const struct flat_options *options, uint32_t stack);
static inline uint32_t flat_counted_frames(const struct flat_counted *counted)
{
	return counted->kernels.count + counted->others.count;
}
/* Returns the chain of a sample, given by its index. */
static inline struct flat_instance flat_chains_of(
	const struct flat_chains *chains, const struct profile *profile, uint32_t sample)
{
	uint32_t stack = profile->samples[sample].stack;
	if (!chains->begin || stack == PROFILE_NONE)
		return (struct flat_instance){.sample = sample};
	uint32_t begin = chains->begin[stack];
	return (struct flat_instance){sample, begin, chains->begin[stack + 1] - begin};
}
/* Returns the function of the first frame, in the order of the chain, that matches the parent expression; PROFILE_NONE
 * if there is none. */
static inline uint32_t flat_chains_parent(const struct flat_chains *chains, const struct profile *profile,
	const struct flat_options *options, const struct flat_instance *whole)
{
	const bool *is_parent = options->filter ? options->filter->frame_is_parent : NULL;
	for (uint32_t i = 0; is_parent && i < whole->len; i++) {
		uint32_t frame = chains->frames[whole->chain + i];
		if (is_parent[frame])
			return profile->frames[frame].function;
	}
	return PROFILE_NONE;
}
/* Returns whether any event of the table has samples; otherwise, groups and chains are not needed. */
static inline bool flat_events_have_samples(const struct profile *p, const struct flat_options *o)
{
	const struct profile_event *first = &p->events[o->first_event];
	for (uint32_t i = 0; i < o->member_count; i++)
		if (first[i].sample_count)
			return true;
	return false;
}
/* Returns the run-time address if it is known, otherwise the address in the binary. perf names callers without a symbol
 * by the former, but a sample's own frame by the latter. */
static inline uint64_t flat_caller_address(const struct profile_frame *frame)
{
	return frame->raw_address ? frame->raw_address : frame->address;
}
static inline bool flat_frame_is_resolved(const struct profile *profile, uint32_t frame)
{
	return profile->frames[frame].function != PROFILE_NONE;
}
/* Cuts the chain to the part after the last function with ignored callees, in the order of the chain, as perf does:
 * these are callers if chains start at the callee, and callees if they start at the caller. Returns the frame that the
 * sample counts for. */
uint32_t flat_chains_ignore_callees(const struct flat_chains *chains, const struct flat_options *options,
	struct flat_instance *whole, uint32_t leaf);

#endif
