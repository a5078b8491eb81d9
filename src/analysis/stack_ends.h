/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_ends.h - counts how the call chains of samples ended; counts of several workers can be added up.
 *
 *	stack_ends_add(&ends, &result);   stack_ends_merge(&total, &ends);   count = stack_ends_unwound(&total);
 */
#ifndef ANALYSIS_STACK_ENDS_H
#define ANALYSIS_STACK_ENDS_H

#include "code/unwind/unwinder.h"

struct stack_ends {
	uint64_t ends[UNWIND_ENDS]; /* How unwinding ended, for stacks that were unwound from stack dumps. */
	uint64_t bridged; /* Number of those stacks with frames that were found by frame pointer. */
	/* For recordings without stack dumps: number of stacks that end in a function in which threads start, and
	 * number of other stacks. */
	uint64_t reached, unknown;
};

static inline void stack_ends_add(struct stack_ends *ends, const struct unwind_result *result)
{
	ends->ends[result->end]++;
	ends->bridged += result->bridged > 0;
}

static inline void stack_ends_merge(struct stack_ends *total, const struct stack_ends *part)
{
	for (unsigned i = 0; i < UNWIND_ENDS; i++)
		total->ends[i] += part->ends[i];
	total->bridged += part->bridged;
	total->reached += part->reached;
	total->unknown += part->unknown;
}

/* Returns the number of stacks that were unwound from stack dumps. */
static inline uint64_t stack_ends_unwound(const struct stack_ends *ends)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < UNWIND_ENDS; i++)
		sum += ends->ends[i];
	return sum;
}

#endif
