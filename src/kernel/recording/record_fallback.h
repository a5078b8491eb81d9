/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_fallback.h - decides what to request when the kernel refuses an event of a recording: each call of
 * record_fallback_next removes or replaces one feature of the events.
 *
 * It changes the event list in place and adds a note about each change to diag. The number of possible changes is
 * limited, so retrying ends. Decisions depend only on the errors of perf_event_open, not on the version of the kernel.
 * The caller shows the notes only after all events are open, because they say what the recording lacks.
 */
#ifndef KERNEL_RECORDING_RECORD_FALLBACK_H
#define KERNEL_RECORDING_RECORD_FALLBACK_H

#include "base/diag.h"
#include "kernel/events/privileges.h"

struct record_fallback {
	const struct kernel_seam *kernel;
	struct event_list *events;
	bool keeps_kernel; /* Never falls back to user mode. */
	struct diag *diag;
	unsigned step; /* State of record_attrs_drop, initially 0. */
};

/* Handles the refusal of the event with this index. Returns true if events were changed and all should be opened again,
 * false if nothing is left to change. */
bool record_fallback_next(struct record_fallback *fallback, size_t event, enum refusal refusal, int errnum);

#endif
