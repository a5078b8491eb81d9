/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_calls.h - reads from the environment which calls fail. It is shared by failing_program.c, which makes
 * allocations of a program with sanitizers fail, and failing_preload.c, which is preloaded into a normal program.
 *
 *	FAIL_AT=N        the N-th allocation (from 1) fails, and with FAIL_FROM set all after it
 *	FAIL_COUNT=FILE  the number of allocations is written there at the end
 *	FAIL_WRITE=N     the N-th write to a file or pipe other than standard error fails with the error FAIL_ERRNO; if
 *	                 that is 0, it and all after it write one byte only
 */
#ifndef TESTS_ROBUSTNESS_FAILING_CALLS_H
#define TESTS_ROBUSTNESS_FAILING_CALLS_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_long failing_allocations;

static long failing_number(const char *name)
{
	const char *text = getenv(name);
	return text ? strtol(text, NULL, 10) : 0;
}

static bool failing_allocation(void)
{
	static long at = -1;
	static bool and_after;
	if (at < 0) {
		and_after = getenv("FAIL_FROM") != NULL;
		at = failing_number("FAIL_AT");
	}
	long number = atomic_fetch_add(&failing_allocations, 1) + 1;
	bool fails = at > 0 && (number == at || (and_after && number > at));
	if (fails)
		errno = ENOMEM;
	return fails;
}

__attribute__((destructor)) static void failing_tell(void)
{
	const char *path = getenv("FAIL_COUNT");
	long count = atomic_load(&failing_allocations);
	FILE *file = path ? fopen(path, "we") : NULL;
	if (file) {
		fprintf(file, "%ld\n", count);
		fclose(file);
	}
}

#endif
