/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_waits.h - finds out what threads wait for now, from /proc/PID/stat, status and syscall, for waits that begin
 * before a recording. Fields that /proc does not provide stay unknown. Source: proc(5).
 *
 *	thread_waits_read(kernel, tid, &now);
 *	if (now.is_waiting) ... now.state == 'S', now.syscall, now.ip ...
 */
#ifndef KERNEL_RECORDING_THREAD_WAITS_H
#define KERNEL_RECORDING_THREAD_WAITS_H

#include "kernel/system/kernel_seam.h"

struct thread_wait {
	bool exists;
	bool is_kernel; /* a thread of the kernel */
	bool is_waiting;
	char state; /* as ps shows it */
	uint32_t pid; /* of its process */
	int32_t syscall; /* -1: none, or not known */
	uint64_t ip, sp; /* in user space; 0: not known */
	uint64_t switches; /* as thread_waits_switches */
};

/* How often the thread has left the CPU; UINT64_MAX: it has ended, or that is not known. While it waits, the number
 * stays the same; if it is the same after something else was read of the thread, that was of one wait. */
uint64_t thread_waits_switches(const struct kernel_seam *kernel, pid_t tid);
struct thread_wait thread_waits_read(const struct kernel_seam *kernel, pid_t tid);

#endif
