/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_waits.h - reads from /proc/PID/stat, status and syscall what threads are waiting for, for waits that begin
 * before a recording. Source: proc(5).
 *
 *	struct thread_wait now = thread_waits_read(kernel, tid);
 *	if (now.is_waiting) ... now.state == 'S', now.syscall, now.ip ...
 */
#ifndef KERNEL_RECORDING_THREAD_WAITS_H
#define KERNEL_RECORDING_THREAD_WAITS_H

#include "kernel/system/kernel_seam.h"

struct thread_wait {
	bool exists; /* False if the thread has ended. */
	bool is_kernel; /* A kernel thread; only is_waiting and state are then also set. */
	bool is_waiting; /* The state is S, D, T or t. */
	char state; /* Letter of the state, as ps shows it. */
	uint32_t pid; /* Process of the thread. */
	int32_t syscall; /* Number of the system call; -1 if none or unknown. */
	uint64_t ip, sp; /* In user space; 0 if unknown. */
	uint64_t switches; /* Value of thread_waits_switches. */
};

/* Returns how often the thread has left the CPU; UINT64_MAX if it has ended or the number is unknown. The number is
 * constant during a wait: if it is equal before and after other reads, they all belong to the same wait. */
uint64_t thread_waits_switches(const struct kernel_seam *kernel, pid_t tid);
struct thread_wait thread_waits_read(const struct kernel_seam *kernel, pid_t tid);

#endif
