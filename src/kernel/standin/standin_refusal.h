/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_refusal.h - explains why a program cannot be sampled by ptrace: another tracer, Yama, another user, seccomp.
 *
 * It reads /proc below the seam's root and the capabilities of this process, and does not use the stand-in.
 *
 *	if (standin_refusal(kernel, 12, EPERM, &reason)) ...	// "process 12 is traced by process 7 (gdb) ..."
 */
#ifndef KERNEL_STANDIN_STANDIN_REFUSAL_H
#define KERNEL_STANDIN_STANDIN_REFUSAL_H

#include "base/text.h"
#include "kernel/system/kernel_seam.h"

/* Appends the reason why the stand-in's perf_event_open failed with errnum for the thread. Returns false if the reason
 * is the same as for perf events. */
bool standin_refusal(const struct kernel_seam *kernel, pid_t tid, int errnum, struct text *reason);

#endif
