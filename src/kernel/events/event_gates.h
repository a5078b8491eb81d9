/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_gates.h - explains why the kernel refuses an event for other reasons than permission: the hardware, other users
 * of the PMU, the attr or a limit. The explanation is one sentence without the event's name, with the smallest change
 * that allows the event.
 */
#ifndef KERNEL_EVENTS_EVENT_GATES_H
#define KERNEL_EVENTS_EVENT_GATES_H

#include "kernel/events/event_spec.h"
#include "kernel/system/surroundings.h"

/* The request: an event of a thread (-1: all) on a CPU (-1: any). */
struct event_request {
	const struct kernel_seam *kernel;
	const struct event_spec *spec;
	pid_t pid;
	int cpu;
	int errnum; /* the kernel's answer */
};

/* Hardware, hardware cache or raw, not of a named PMU. */
bool event_is_hardware(const struct event_spec *spec);
/* The software event that counts nothing. */
bool event_is_dummy(const struct event_spec *spec);
/* The event whose samples are the time that threads wait: a BPF program measures it, abi/wait_record.h says what they hold. */
bool event_is_waits(const struct event_spec *spec);
/* A kprobe or uprobe of the PMUs of these names. */
bool event_is_probe(const struct event_spec *spec);
/* Only the kernel's own code causes it: with the kernel left out (:u) it is always 0. */
bool event_happens_in_kernel(const struct event_spec *spec);
/* The hypervisor bit, DMI or the device tree say that this is a virtual machine. */
bool machine_is_virtual(const struct kernel_seam *kernel);
/* Whether sysfs lists a core PMU; true if there is no sysfs. */
bool kernel_has_core_pmu(const struct kernel_seam *kernel);
bool kernel_file_has(const struct kernel_seam *kernel, const char *path, const char *word);

/* ENOENT, ENODEV, ENXIO, EOPNOTSUPP; EINVAL of a generic event without a PMU. */
void gate_hardware(const struct event_request *request, struct text *reason);
/* EBUSY, ENOSPC: exclusive use, the watchdog, breakpoint registers. */
void gate_busy(const struct event_request *request, struct text *reason);
/* EINVAL, E2BIG: the combination. */
void gate_combination(const struct event_request *request, struct text *reason);
/* EMFILE, ENFILE. */
void gate_files(const struct event_request *request, struct text *reason);
/* EBADF, EFAULT, EINTR, ENOSYS, EOVERFLOW and what no manual lists. */
void gate_other(const struct event_request *request, struct text *reason);

#endif
