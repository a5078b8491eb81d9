/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch_history.h - prepends a sample's taken branches to its call chain, which shows the jumps that led to the
 * sample.
 *
 * Each branch becomes two frames, its source and its target, marked as such (enum profile_branch_end) with the flags
 * and cycles that the CPU recorded, so branches that differ only in cycles are different frames. A sequence that
 * directly repeats itself is kept once. The call chain follows, without the calls that are among the branches.
 * Stateless; frames and errors are those of the caller's resolver.
 *
 *	struct branch_history history = {.where = where, .sample = &sample, ...};
 *	uint32_t stack = branch_history_stack(&resolver, &history);
 */
#ifndef ANALYSIS_BRANCH_HISTORY_H
#define ANALYSIS_BRANCH_HISTORY_H

#include "analysis/resolve.h"

struct branch_history {
	struct resolve_where where;
	const struct sample *sample;
	struct list chain; /* Frames of the sample's call chain, innermost first; borrowed. */
	const struct resolve_address *addresses; /* Run-time addresses of the frames in chain; borrowed. */
	/* Maximum number of branches; 0 for no limit. If there are more, the oldest ones are kept if is_oldest_first is
	 * set, otherwise the newest ones. */
	unsigned max_branches;
	bool is_oldest_first; /* Chains will be displayed starting from the outermost caller. */
};

/* Returns the resolver's ID of the stack, or RESOLVE_NONE if there are neither branches nor callers. On failure the
 * resolver's `failed` is set. */
uint32_t branch_history_stack(struct resolver *r, const struct branch_history *history);

#endif
