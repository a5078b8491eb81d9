/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_fallback.h - decides what to request when the kernel refuses an event of a recording: one feature less each
 * time.
 *
 * It changes the event list in place and reports in diag what it removed. Every step removes something, so retrying
 * ends. It depends only on the refusals, never on a version. The notes in diag are valid only after the events are
 * open, so they should be shown then.
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
	unsigned step; /* Passed to record_attrs_drop. */
};

/* Returns true if the events were changed and should be opened again, false if nothing is left to change. */
bool record_fallback_next(struct record_fallback *fallback, size_t event, enum refusal refusal, int errnum);

#endif
