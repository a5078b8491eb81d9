/* SPDX-License-Identifier: Apache-2.0 */
/* A workload that runs these lines in this order: 24 to 26, 9 to 11, 30 to 32, 16 to 18. perf's test requires them. */
#include "verbs/test/test_workloads.h"
#define DETERMINISTIC_NOINLINE __attribute__((noinline))
#define STEP()		       __asm__ volatile("nop") /* The compiler neither moves nor merges volatile asm. */

DETERMINISTIC_NOINLINE static void deterministic_first(void)
{
	STEP();
	STEP();
	STEP();
}

DETERMINISTIC_NOINLINE static void deterministic_second(void)
{
	STEP();
	STEP();
	STEP();
}

/* Calls both functions. */
DETERMINISTIC_NOINLINE int workload_deterministic(int argc, char **argv)
{
	STEP();
	STEP();
	STEP();

	deterministic_first();

	STEP();
	STEP();
	STEP();

	deterministic_second();
	(void)argv;
	return argc < 0;
}
