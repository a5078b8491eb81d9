/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breakpoint_probe.h - finds out whether hardware breakpoints fire on this machine, and opens events with that answer.
 *
 * Some hypervisors let the kernel set the debug registers of a virtual CPU but never deliver the exception. A
 * breakpoint event then opens but always counts 0. The probe sets a breakpoint on its own variable or function,
 * triggers it and reads the count, which takes some microseconds and one descriptor. The result for the running kernel
 * is cached for the life of the process. Any thread.
 *
 *	int fd = event_open(kernel, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
 *	if (fd < 0 && errno == ENODEV && breakpoint_probe(kernel, &attr) == BREAKPOINT_SILENT) ...
 */
#ifndef KERNEL_EVENTS_BREAKPOINT_PROBE_H
#define KERNEL_EVENTS_BREAKPOINT_PROBE_H

#include "kernel/system/kernel_seam.h"

/* BREAKPOINT_UNKNOWN: the kernel refused the breakpoint of the probe, for example because all registers are in use. */
enum breakpoint_answer { BREAKPOINT_UNKNOWN, BREAKPOINT_FIRES, BREAKPOINT_SILENT };

/* Tests breakpoints of the same kind as attr: on data accesses or on execution. */
enum breakpoint_answer breakpoint_probe(const struct kernel_seam *kernel, const struct perf_attr *attr);
/* Calls perf_event_open(2), but fails with errno ENODEV for a breakpoint that would never fire. */
int event_open(const struct kernel_seam *kernel, const struct perf_attr *attr, pid_t pid, int cpu, int group_fd,
	unsigned long flags);

#endif
