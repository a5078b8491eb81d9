/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracepoint_hold.h - keeps tracepoints in use while a program opens and closes events on them, because the kernel
 * waits tens of milliseconds each time the last event of a tracepoint is closed. It also finds the tracepoints of a
 * pattern that cannot be opened. It counts nothing.
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
	int *items; /* Descriptors. */
	size_t len, cap;
};

/* Opens an event for each tracepoint of the list, unless there are only a few and none comes from a pattern. Removes
 * events that come from a pattern, are in no group, and are refused although others of the pattern open; left_out gets
 * a line for each pattern and reason. is_sampling says whether the caller samples, because the kernel may refuse
 * sampling of a tracepoint but allow counting. */
TALLY_MUST_CHECK enum tally_status tracepoint_hold_open(struct tracepoint_hold *hold, const struct kernel_seam *kernel,
	bool is_sampling, struct event_list *events, struct text *left_out, struct tally_error *err);
/* Closes the events of the hold; if there are many, a child process does so, for which the caller need not wait. */
void tracepoint_hold_release(struct tracepoint_hold *hold);

#endif
