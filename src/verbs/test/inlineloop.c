/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlineloop.c - a workload whose time is in a function that is inlined into another one, which is inlined as well.
 *
 * A test of perf wants the lines of the two inlined functions to be 20 to 29 of a file of this name, and the call in the
 * function that has them to be one of 30 to 39. So this comment is as long as it has to be: whoever changes the file
 * looks at the numbers of the lines again (tests/e2e/test_test.py does, too).
 */
#include "verbs/test/test_workloads.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

volatile int workload_inlineloop_count;

/*
 * Counts until the time is over.
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
