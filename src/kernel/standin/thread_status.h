/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_status.h - parses /proc/TID/status: the process, tracer, signals and seccomp filters of a thread.
 *
 * Pure, except thread_status_read, which reads a file below the seam's root. Source: proc_pid_status(5).
 *
 *	struct thread_status status;
 *	if (thread_status_read(kernel, tid, &status) && status.tracer) ...
 */
#ifndef KERNEL_STANDIN_THREAD_STATUS_H
#define KERNEL_STANDIN_THREAD_STATUS_H

#include "base/bytes.h"
#include "kernel/system/kernel_seam.h"

struct thread_status {
	pid_t pid, parent, tracer; /* tracer is 0 if there is none. */
	pid_t inner_tid; /* TID in the innermost PID namespace of the thread. */
	uid_t user, effective_user;
	gid_t effective_group;
	uint64_t capabilities; /* Effective capabilities. */
	bool has_no_new_rights; /* The flag no_new_privs. */
	char state; /* 'R' if the thread runs or is ready to run. */
	uint64_t blocked, ignored, caught; /* Signal masks of the thread; see signal_bit. */
	uint64_t filters; /* Number of seccomp filters. */
	bool is_strict; /* Seccomp strict mode, in which the kernel kills the thread for other system calls. */
};

/* Returns false if the text is malformed. */
bool thread_status_parse(struct tally_str text, struct thread_status *status);
/* Returns false if the thread has ended or /proc is missing. */
bool thread_status_read(const struct kernel_seam *kernel, pid_t tid, struct thread_status *status);

/* Returns the bit of a signal number in the masks. */
static inline uint64_t signal_bit(int number)
{
	return UINT64_C(1) << (number - 1);
}

#endif
