/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breakpoint_probe.h - finds out whether hardware breakpoints fire on this machine, and opens events with that answer.
 *
 * Some hypervisors let the kernel set the debug registers of a virtual CPU and never deliver the exception. An event of a
 * breakpoint then opens and counts 0, whatever happens. The probe sets a breakpoint on a variable or a function of its
 * own, uses it, and reads the count; that takes some microseconds and one descriptor. What it finds on the running kernel
 * is kept for the process. Any thread.
 *
 *	int fd = event_open(kernel, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
 *	if (fd < 0 && errno == ENODEV && breakpoint_probe(kernel, &attr) == BREAKPOINT_SILENT) ...
 */
#ifndef KERNEL_EVENTS_BREAKPOINT_PROBE_H
#define KERNEL_EVENTS_BREAKPOINT_PROBE_H

#include "kernel/system/kernel_seam.h"

/* UNKNOWN: the kernel refused the probe's own breakpoint, for example because all registers are in use. */
enum breakpoint_answer { BREAKPOINT_UNKNOWN, BREAKPOINT_FIRES, BREAKPOINT_SILENT };

/* Of breakpoints of the kind of attr: on accesses to data, or on execution. */
enum breakpoint_answer breakpoint_probe(const struct kernel_seam *kernel, const struct perf_attr *attr);
/* As perf_event_open; a breakpoint that would never fire is refused with ENODEV. */
int event_open(const struct kernel_seam *kernel, const struct perf_attr *attr, pid_t pid, int cpu, int group_fd,
	unsigned long flags);

#endif
