/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_gates.h - explains why the kernel refuses an event for reasons other than permission: the hardware, other users
 * of the PMU, the attr or a limit. The functions gate_... append a sentence without the name of the event, which
 * includes the smallest change that allows the event.
 */
#ifndef KERNEL_EVENTS_EVENT_GATES_H
#define KERNEL_EVENTS_EVENT_GATES_H

#include "kernel/events/event_spec.h"
#include "kernel/system/surroundings.h"

/* A refused request for an event of a thread (-1: all) on a CPU (-1: any). */
struct event_request {
	const struct kernel_seam *kernel;
	const struct event_spec *spec;
	pid_t pid;
	int cpu;
	int errnum; /* errno of perf_event_open. */
};

/* Returns whether the event is a hardware, hardware cache or raw event without a named PMU. */
bool event_is_hardware(const struct event_spec *spec);
/* Returns whether the event is the software event "dummy", which counts nothing. */
bool event_is_dummy(const struct event_spec *spec);
/* Returns whether the samples of the event are waits of threads, which a BPF program emits (abi/wait_record.h). */
bool event_is_waits(const struct event_spec *spec);
/* Returns whether the event belongs to the PMU kprobe or uprobe. */
bool event_is_probe(const struct event_spec *spec);
/* Returns whether only kernel code causes the event, so that it is always 0 in user mode (:u). */
bool event_happens_in_kernel(const struct event_spec *spec);
/* Returns whether /proc/cpuinfo, DMI or the device tree say that this is a virtual machine. */
bool machine_is_virtual(const struct kernel_seam *kernel);
/* Returns whether sysfs lists a core PMU; true if there is no sysfs. */
bool kernel_has_core_pmu(const struct kernel_seam *kernel);
/* Returns whether the text of the file contains word. */
bool kernel_file_has(const struct kernel_seam *kernel, const char *path, const char *word);

/* Explains ENOENT, ENODEV, ENXIO, EOPNOTSUPP, and EINVAL of a generic event without a PMU. */
void gate_hardware(const struct event_request *request, struct text *reason);
/* Explains EBUSY and ENOSPC: exclusive use, the watchdog, breakpoint registers. */
void gate_busy(const struct event_request *request, struct text *reason);
/* Explains EINVAL and E2BIG: a combination of settings that the kernel does not accept. */
void gate_combination(const struct event_request *request, struct text *reason);
/* Explains EMFILE and ENFILE. */
void gate_files(const struct event_request *request, struct text *reason);
/* Explains EBADF, EFAULT, EINTR, ENOSYS, EOVERFLOW and undocumented errors. */
void gate_other(const struct event_request *request, struct text *reason);

#endif
