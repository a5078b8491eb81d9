/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - reads the monotonic clock, for durations and deadlines, and the CPU time of this process.
 *
 *	int64_t due_ms = clock_ms() + 100;
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns the time of the clock in nanoseconds, or 0 if the clock cannot be read. */
static inline uint64_t clock_ns_of(clockid_t clock)
{
	struct timespec now = {0};
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Returns the time of CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t clock_ns(void)
{
	return clock_ns_of(CLOCK_MONOTONIC);
}

static inline int64_t clock_ms(void)
{
	return (int64_t)(clock_ns() / 1000000);
}

/* Returns the CPU time of all threads of this process in nanoseconds. */
static inline uint64_t clock_cpu_ns(void)
{
	return clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
}

#endif
