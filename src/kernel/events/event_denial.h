/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_denial.h - says whether the kernel denies this process every event, and what denies it.
 *
 * The most modest event is opened and closed again: cpu-clock of this process itself, in user mode. A system that refuses
 * even that by EPERM, EACCES or ENOSYS (seccomp, perf_event_paranoid 3 and above, a security module, a sandbox) refuses
 * all of them. Other errors, such as too many open files, are no denial: the event that was asked for explains them.
 * Nothing is remembered; one call costs some microseconds. errno is not preserved.
 *
 *	struct text reason = {0};
 *	if (events_are_denied(kernel, &reason)) ...	// "a seccomp filter forbids perf_event_open: ..."
 *	text_deinit(&reason);
 */
#ifndef KERNEL_EVENTS_EVENT_DENIAL_H
#define KERNEL_EVENTS_EVENT_DENIAL_H

#include <stdbool.h>

#include "base/text.h"
#include "kernel/system/kernel_seam.h"

/* Appends a sentence to reason (NULL: it is not wanted) if events are denied: the gate, and the least that opens it. */
bool events_are_denied(const struct kernel_seam *kernel, struct text *reason);

#endif
