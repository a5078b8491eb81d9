/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaling.h - scales the count of a multiplexed event to the whole measured time.
 *
 * Source: perf_event_open(2), PERF_FORMAT_TOTAL_TIME_RUNNING.
 */
#ifndef KERNEL_COUNTING_SCALING_H
#define KERNEL_COUNTING_SCALING_H

#include "base/wide.h"
#include "kernel/counting/counter.h"

/* Returns the scaled count, rounded to the nearest integer; 0 if the event never ran. Integer arithmetic gives the same
 * result on every architecture. */
static inline uint64_t count_scale(struct count count)
{
	if (count.running_ns == 0)
		return 0;
	if (count.running_ns >= count.enabled_ns)
		return count.value;
	wide_u128 scaled = ((wide_u128)count.value * count.enabled_ns + count.running_ns / 2) / count.running_ns;
	return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

static inline double count_running_percent(struct count count)
{
	return count.enabled_ns ? 100.0 * (double)count.running_ns / (double)count.enabled_ns : 100.0;
}

static inline bool count_is_scaled(struct count count)
{
	return count.running_ns != 0 && count.running_ns < count.enabled_ns;
}

#endif
