/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlineloop.c - a workload that spends its time in a function that is inlined into another inlined function.
 *
 * A test of perf requires a file of this name in which the code of the two inlined functions is in lines 20 to 29, and
 * the call in their caller is in one of lines 30 to 39. The length of this comment is chosen accordingly, so whoever
 * changes this file has to check the line numbers.
 */
#include "verbs/test/test_workloads.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

volatile int workload_inlineloop_count;

/*
 * Counts until the time of the workload is over.
 */
ALWAYS_INLINE void inlineloop_leaf(int c)
{
	while (!workload_ends())
		workload_inlineloop_count += c;
}

ALWAYS_INLINE void inlineloop_middle(int c)
{
	inlineloop_leaf(c);
}

/* The caller of the inlined functions. */
__attribute__((noinline)) void workload_inlineloop_parent(int c)
{
	inlineloop_middle(c);
	workload_inlineloop_count++;
}
