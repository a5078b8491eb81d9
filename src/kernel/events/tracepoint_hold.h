/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracepoint_hold.h - keeps tracepoints in use while a program opens and closes events on them, because the kernel
 * waits tens of milliseconds each time a tracepoint loses its last event. It also finds the tracepoints of a pattern
 * that cannot be opened. It counts nothing.
 *
 * A hold belongs to the caller, who releases it after all its other events of these tracepoints are closed. One thread.
 *
 *	struct tracepoint_hold hold = {0};
 *	tracepoint_hold_open(&hold, kernel, true, &events, &left_out, err); ... open, count, close ...
 *	tracepoint_hold_release(&hold);
 */
#ifndef KERNEL_EVENTS_TRACEPOINT_HOLD_H
#define KERNEL_EVENTS_TRACEPOINT_HOLD_H

#include "base/text.h"
#include "kernel/events/event_spec.h"
#include "kernel/system/kernel_seam.h"

struct tracepoint_hold {
	const struct kernel_seam *kernel;
	int *items; /* descriptors */
	size_t len, cap;
};

/* Holds nothing for a few events that were named one by one. Removes events from the list that come from a pattern,
 * are in no group, and are refused although others of that pattern open; left_out gets a line for each pattern and
 * reason. The kernel's answer depends on whether samples will contain the tracepoint's fields. */
TALLY_MUST_CHECK enum tally_status tracepoint_hold_open(struct tracepoint_hold *hold, const struct kernel_seam *kernel,
	bool is_sampling, struct event_list *events, struct text *left_out, struct tally_error *err);
/* Closes them; many of them in a process of its own, which the caller need not wait for. */
void tracepoint_hold_release(struct tracepoint_hold *hold);

#endif
