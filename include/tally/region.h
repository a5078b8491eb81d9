/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region.h - measures how many events a piece of the calling thread's code causes, at the cost of reading a counter
 * twice.
 *
 * A mark is a value of the caller's. Any number of regions, nested or not, share one counter, which goes on counting:
 * no event is started or stopped. The counter is one of the calling thread; name its events as one group, so that a
 * read is one system call at most, and none where the kernel lets the CPU's counters be read directly. Under the simulator
 * (`tally stat --simulate`), with -D -1, what a thread does in its regions is collected (simulation.h);
 * each begin has an end there, whatever they return.
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

#define TALLY_MARK_EVENTS 8

struct tally_mark {
	struct {
		uint64_t value, enabled_ns, running_ns;
	} at[TALLY_MARK_EVENTS];
};

/* Notes where the counts are. TALLY_INVALID: the counter has more than TALLY_MARK_EVENTS events, or several threads or
 * CPUs; TALLY_UNSUPPORTED: an event is in the error state; TALLY_IO: it cannot be read.
 * Threads: the one that opened the counter. */
TALLY_API enum tally_status tally_region_begin(struct tally_counter *counter, struct tally_mark *mark);
/* What was counted since the mark, scaled by the region's own times where the PMU was shared; len is the number of
 * events. TALLY_END: an event was not on the PMU in the region at all, its value is 0 and nothing is known. Otherwise
 * as tally_region_begin. Threads: the one that opened the counter. */
TALLY_API enum tally_status tally_region_end(
	struct tally_counter *counter, const struct tally_mark *mark, uint64_t *values, size_t len);

#ifdef __cplusplus
}
#endif

#endif
