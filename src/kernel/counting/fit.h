/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.h - finds out which events the PMU can count at the same time, by opening them in groups that may not be
 * multiplexed.
 *
 * Units (a group, or a single event) are packed into rounds, first fit. A round is a set of events that were on the PMU
 * together when it was tried, as one pinned group. More than one round means that the kernel would multiplex. Software
 * events and tracepoints need no counter and have no round. The plan belongs to the caller (fit_plan_deinit).
 *
 * Source: perf_event_open(2), "pinned" (a group that cannot be scheduled reads as end of file).
 *
 *	counter_set_open(..., &set, err); // says which events open at all; stays disabled
 *	fit_plan_make(set, SIZE_MAX, &plan, err);
 */
#ifndef KERNEL_COUNTING_FIT_H
#define KERNEL_COUNTING_FIT_H

#include "kernel/counting/counter.h"

enum fit_state {
	FIT_NEEDS_NONE, /* no counter needed */
	FIT_COUNTS, /* in its round */
	FIT_NO_ROOM, /* opens, but was not scheduled even alone: other events hold the counters */
	FIT_REFUSED, /* does not open; the counter has the reason */
};

struct fit_plan {
	enum fit_state *states; /* per event */
	uint32_t *rounds; /* per event, of those that count */
	uint32_t round_count;
	size_t len;
};

/* anchor: index of an event that each round has besides its own; SIZE_MAX: none. */
TALLY_MUST_CHECK enum tally_status fit_plan_make(
	const struct counter_set *set, size_t anchor, struct fit_plan *plan, struct tally_error *err);
void fit_plan_deinit(struct fit_plan *plan);
/* Whether the event takes one of a PMU's counters. */
bool fit_needs_counter(const struct event_spec *spec);

#endif
