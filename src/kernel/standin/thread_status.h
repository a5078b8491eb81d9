/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_status.h - reads what /proc/TID/status says of a thread: its process, who traces it, its signals, its filters.
 *
 * Pure but for thread_status_read, which reads below the seam's root. Source: proc_pid_status(5).
 *
 *	struct thread_status status;
 *	if (thread_status_read(kernel, tid, &status) && status.tracer) ...
 */
#ifndef KERNEL_STANDIN_THREAD_STATUS_H
#define KERNEL_STANDIN_THREAD_STATUS_H

#include "base/bytes.h"
#include "kernel/system/kernel_seam.h"

struct thread_status {
	pid_t pid, parent, tracer; /* tracer 0: nobody */
	pid_t inner_tid; /* its number in its own PID namespace */
	uid_t user, effective_user;
	gid_t effective_group;
	uint64_t capabilities; /* effective ones */
	bool has_no_new_rights; /* no_new_privs */
	char state; /* 'R': runs, or is ready to run */
	uint64_t blocked, ignored, caught; /* signals of the thread itself: bit number - 1 */
	uint64_t filters; /* of seccomp */
	bool is_strict; /* seccomp's strict mode: it may not make a system call of another's choice */
};

/* False: not such a text. */
bool thread_status_parse(struct tally_str text, struct thread_status *status);
/* False: the thread is gone, or /proc is missing. */
bool thread_status_read(const struct kernel_seam *kernel, pid_t tid, struct thread_status *status);

static inline uint64_t signal_bit(int number)
{
	return UINT64_C(1) << (number - 1);
}

#endif
