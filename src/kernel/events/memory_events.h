/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_events.h - finds the events of this machine's PMUs that sample memory accesses with their data source.
 *
 * It uses only the kernel seam: sysfs says which PMU has mem-loads and mem-stores (and mem-loads-aux, which must lead
 * its group), or is AMD's ibs_op, which samples both. The text is an argument of -e.
 *
 *	memory_events_find(kernel, &(struct memory_event_request){true, true, 30}, &text, err);
 */
#ifndef KERNEL_EVENTS_MEMORY_EVENTS_H
#define KERNEL_EVENTS_MEMORY_EVENTS_H

#include "base/text.h"
#include "kernel/system/kernel_seam.h"

struct memory_event_request {
	bool loads, stores;
	uint64_t least_latency; /* Minimum latency of loads in cycles, if the PMU can filter by it. */
};

/* Appends the events to the text, NUL-terminated. Returns TALLY_NOT_FOUND if no PMU of this machine has such events. */
TALLY_MUST_CHECK enum tally_status memory_events_find(const struct kernel_seam *kernel,
	const struct memory_event_request *request, struct text *events, struct tally_error *err);

#endif
