/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region.h - measures how many events a piece of the calling thread's code causes, at the cost of reading a counter
 * twice.
 *
 * A mark is a plain value in the caller's memory. Any number of regions, nested or not, share one counter, which is
 * never stopped. The counter must be one of the calling thread. If its events form one group, reading it needs at most
 * one system call, and none where the kernel allows programs to read the CPU's counters. Under the simulator
 * (simulation.h) with -D -1, events of a thread are collected only inside its regions; each tally_region_begin then
 * needs its tally_region_end, even if one of them returns an error.
 *
 *	struct tally_counter *c = tally_counter_open("{cycles,instructions}:u", NULL, &err);
 *	struct tally_mark mark;
 *	uint64_t spent[2];
 *	tally_region_begin(c, &mark);
 *	work();
 *	if (tally_region_end(c, &mark, spent, 2) == TALLY_OK) ...
 */
#ifndef TALLY_REGION_H
#define TALLY_REGION_H

#include <tally/counter.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TALLY_MARK_EVENTS 8 /* Maximum number of events of the counter. */

struct tally_mark { /* Counts at the beginning of a region, one element per event. */
	struct {
		uint64_t value, enabled_ns, running_ns;
	} at[TALLY_MARK_EVENTS];
};

/* Stores the current counts in the mark. Returns TALLY_INVALID if the counter has more than TALLY_MARK_EVENTS events,
 * or several threads or CPUs, TALLY_UNSUPPORTED if an event is in the error state, and TALLY_IO if reading fails.
 * Threads: the one that opened the counter. */
TALLY_API enum tally_status tally_region_begin(struct tally_counter *counter, struct tally_mark *mark);
/* Computes the counts since the mark, scaled by the times of the region if the PMU was shared; len is the number of
 * events, otherwise the result is TALLY_INVALID. Returns TALLY_END if an event was never on the PMU in the region: its
 * value is 0 and means nothing. Other errors are those of tally_region_begin.
 * Threads: the one that opened the counter. */
TALLY_API enum tally_status tally_region_end(
	struct tally_counter *counter, const struct tally_mark *mark, uint64_t *values, size_t len);

#ifdef __cplusplus
}
#endif

#endif
