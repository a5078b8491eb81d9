/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_fallback.h - decides what to request when the kernel refuses an event of a recording: one feature less each
 * time.
 *
 * Works on the event list in place and reports in diag what it removed. Every step removes something, so retrying ends.
 * It looks only at refusals, never at a version. The notes in diag are valid once the events are open, so show them
 * then.
 */
#ifndef KERNEL_RECORDING_RECORD_FALLBACK_H
#define KERNEL_RECORDING_RECORD_FALLBACK_H

#include "base/diag.h"
#include "kernel/events/privileges.h"

struct record_fallback {
	const struct kernel_seam *kernel;
	struct event_list *events;
	bool keeps_kernel;
	struct diag *diag;
	unsigned step; /* of record_attrs_drop */
};

/* True: the events were changed; open them again. False: there is nothing left to change. */
bool record_fallback_next(struct record_fallback *fallback, size_t event, enum refusal refusal, int errnum);

#endif
