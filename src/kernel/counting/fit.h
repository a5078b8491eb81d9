/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.h - finds out which events the PMU can count at the same time, by opening them as pinned groups, which the kernel
 * does not multiplex.
 *
 * Groups and single events are packed into rounds, first fit. The events of a round were on the PMU together when they
 * were tried as one pinned group. Several rounds mean that the kernel would multiplex. Software events and tracepoints
 * need no counter and have no round. The plan belongs to the caller (fit_plan_deinit).
 *
 * Source: perf_event_open(2), "pinned" (a group that cannot be scheduled reads as end of file).
 *
 *	counter_set_open(..., &set, err); // finds the events that open; the set remains disabled
 *	fit_plan_make(set, SIZE_MAX, &plan, err);
 */
#ifndef KERNEL_COUNTING_FIT_H
#define KERNEL_COUNTING_FIT_H

#include "kernel/counting/counter.h"

enum fit_state {
	FIT_NEEDS_NONE, /* The event needs no counter of a PMU. */
	FIT_COUNTS, /* The event counts in its round. */
	FIT_NO_ROOM, /* The event opens but is not scheduled even alone, because other events hold the counters. */
	FIT_REFUSED, /* The event does not open; its counter has the reason. */
};

struct fit_plan {
	enum fit_state *states; /* One per event. */
	uint32_t *rounds; /* One per event: its round, from 0; valid with FIT_COUNTS. */
	uint32_t round_count;
	size_t len; /* Number of events. */
};

/* Plans rounds for the events of the set that are open. anchor is the index of an event that is added to each round;
 * SIZE_MAX for none. */
TALLY_MUST_CHECK enum tally_status fit_plan_make(
	const struct counter_set *set, size_t anchor, struct fit_plan *plan, struct tally_error *err);
void fit_plan_deinit(struct fit_plan *plan);
/* Returns whether the event occupies a counter of a PMU. */
bool fit_needs_counter(const struct event_spec *spec);

#endif
