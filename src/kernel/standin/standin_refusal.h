/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_refusal.h - explains why a program cannot be sampled by ptrace: another tracer, Yama, its user, a filter.
 *
 * Reads /proc below the seam's root and the capabilities of this process; knows nothing of the stand-in's state.
 *
 *	if (standin_refusal(kernel, 12, EPERM, &reason)) ...	// "process 12 is traced by process 7 (gdb) already: ..."
 */
#ifndef KERNEL_STANDIN_STANDIN_REFUSAL_H
#define KERNEL_STANDIN_STANDIN_REFUSAL_H

#include "base/text.h"
#include "kernel/system/kernel_seam.h"

/* errnum: the stand-in's answer to perf_event_open for the thread. False: it is as perf events say. */
bool standin_refusal(const struct kernel_seam *kernel, pid_t tid, int errnum, struct text *reason);

#endif
