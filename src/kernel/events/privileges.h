/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileges.h - explains a refusal of perf_event_open or of mapping the ring: what refused, why, and the smallest
 * change that allows it. errno is preserved. No other module explains such refusals.
 */
#ifndef KERNEL_EVENTS_PRIVILEGES_H
#define KERNEL_EVENTS_PRIVILEGES_H

#include "kernel/events/event_parser.h"

/* What a failing perf_event_open means for what to do next. */
enum refusal {
	REFUSAL_NO_HARDWARE, /* no such event here (ENOENT, ENODEV, EOPNOTSUPP, EINVAL of a PMU that is absent ...) */
	REFUSAL_PERMISSION, /* paranoid, seccomp, LSM, capability */
	REFUSAL_FDS, /* EMFILE, ENFILE */
	REFUSAL_MEMORY,
	REFUSAL_BUSY, /* held by another user */
	REFUSAL_GONE, /* ESRCH: the thread has ended */
	REFUSAL_OLD_KERNEL, /* an attr feature this kernel lacks (E2BIG, EINVAL): drop it and try again */
	REFUSAL_OTHER,
};

/* Whether the process may measure what it likes, whatever perf_event_paranoid is. */
bool may_measure_all(const struct kernel_seam *kernel);
/* Whether a seccomp filter of this process refuses perf_event_open, whatever its arguments. */
bool seccomp_forbids_events(const struct kernel_seam *kernel);
enum refusal refusal_of(const struct kernel_seam *kernel, const struct event_spec *spec, int errnum);
/* "cannot open 'cycles': REASON" in err, errno kept; returns err's status. */
enum tally_status refusal_explain(const struct kernel_seam *kernel, const struct event_spec *spec, pid_t pid, int cpu,
	int errnum, struct tally_error *err);
/* The reason alone: what refused, and the least that opens it. No event's name, so that events can share it. */
void refusal_reason(const struct kernel_seam *kernel, const struct event_spec *spec, pid_t pid, int cpu, int errnum,
	struct text *reason);

#endif
