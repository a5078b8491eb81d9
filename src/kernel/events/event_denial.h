/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_denial.h - finds out whether the kernel denies this process every event, and why.
 *
 * It opens and closes the event that needs the fewest rights: cpu-clock of this process, in user mode. A system that
 * refuses it by EPERM, EACCES or ENOSYS (seccomp, perf_event_paranoid 3 and above, a security module, a sandbox)
 * refuses all events. Other errors, such as too many open files, are no denial; opening the requested event reports
 * them. The result is not cached; a call takes some microseconds. errno is not preserved.
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

/* If events are denied, appends the cause and the smallest change that allows them to reason, which may be NULL. */
bool events_are_denied(const struct kernel_seam *kernel, struct text *reason);

#endif
