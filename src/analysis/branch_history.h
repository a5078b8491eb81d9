/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch_history.h - makes a sample's taken branches the inner part of its call chain: which jumps led to the sample.
 *
 * Each branch is two frames, its source and its target, marked as such (enum profile_branch_end) with the flags and
 * cycles that the CPU recorded, so branches that differ only in cycles are different frames. A sequence that is
 * directly repeated is kept once. The call chain follows, without the calls that are among the branches. Uses the
 * caller's resolver; no state.
 *
 *	uint32_t stack = branch_history_stack(&resolver, &(struct branch_history){.where = where, .sample = &sample, ...});
 */
#ifndef ANALYSIS_BRANCH_HISTORY_H
#define ANALYSIS_BRANCH_HISTORY_H

#include "analysis/resolve.h"

struct branch_history {
	struct resolve_where where;
	const struct sample *sample;
	struct list chain; /* frames; borrowed, like the next two */
	const struct resolve_address *addresses; /* the chain's */
	unsigned max_branches; /* at most so many of the oldest or newest branches; 0: all */
	bool is_oldest_first; /* chains will be shown from the outermost caller on */
};

/* Its innermost node; RESOLVE_NONE: neither branches nor callers. Failure is the resolver's. */
uint32_t branch_history_stack(struct resolver *r, const struct branch_history *history);

#endif
