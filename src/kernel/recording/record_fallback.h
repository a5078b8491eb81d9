/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_fallback.h - decides what to ask for when the kernel refuses an event of a recording: one feature less each
 * time.
 *
 * Works on the event list in place and says what it gave up in diag. Every step takes something away, so that trying
 * again ends. Never looks at a version: only at refusals. What diag says is true once the events are open: who shows it
 * waits for that.
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

/* True: the events were changed, open again. False: nothing is left to give up. */
bool record_fallback_next(struct record_fallback *fallback, size_t event, enum refusal refusal, int errnum);

#endif
