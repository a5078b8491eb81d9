/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileges.h - explains why perf_event_open or mapping the ring was refused: the cause, and the smallest change that
 * allows it. Callers use only this module, which calls event_gates.h for causes other than permission. errno is
 * preserved.
 */
#ifndef KERNEL_EVENTS_PRIVILEGES_H
#define KERNEL_EVENTS_PRIVILEGES_H

#include "kernel/events/event_parser.h"

/* Causes of a failed perf_event_open, by how callers react to them. */
enum refusal {
	/* The machine lacks the event (ENOENT, ENODEV, EOPNOTSUPP, EINVAL of an absent PMU ...). */
	REFUSAL_NO_HARDWARE,
	REFUSAL_PERMISSION, /* perf_event_paranoid, seccomp, a security module, or a missing capability. */
	REFUSAL_FDS, /* Too many files are open (EMFILE, ENFILE). */
	REFUSAL_MEMORY, /* ENOMEM. */
	REFUSAL_BUSY, /* Other events occupy the hardware (EBUSY, ENOSPC). */
	REFUSAL_GONE, /* ESRCH: the thread has ended. */
	/* The kernel lacks a feature of the attr (E2BIG, EINVAL); retrying without it may succeed. */
	REFUSAL_OLD_KERNEL,
	REFUSAL_OTHER,
};

/* Returns whether the process may open all events, regardless of perf_event_paranoid. */
bool may_measure_all(const struct kernel_seam *kernel);
/* Returns whether a seccomp filter of this process refuses perf_event_open with any arguments. */
bool seccomp_forbids_events(const struct kernel_seam *kernel);
/* Returns the cause of a failed perf_event_open of the event. */
enum refusal refusal_of(const struct kernel_seam *kernel, const struct event_spec *spec, int errnum);
/* Sets err to "cannot open 'cycles': REASON" and its errnum, and returns its status. */
enum tally_status refusal_explain(const struct kernel_seam *kernel, const struct event_spec *spec, pid_t pid, int cpu,
	int errnum, struct tally_error *err);
/* Appends only the cause and the smallest change that allows the event. The text does not contain the name of the
 * event, so that several events can share it. */
void refusal_reason(const struct kernel_seam *kernel, const struct event_spec *spec, pid_t pid, int cpu, int errnum,
	struct text *reason);

#endif
