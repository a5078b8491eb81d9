/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capabilities.h - finds out which of the privileges that perf events need this process has: its capabilities in the
 * initial user namespace, and whether the kernel's numbers of threads are its own. Root of another user namespace (a rootless container, a sandbox) has a full set that does not
 * count there.
 *
 * Reads /proc/self under the seam's root, and asks the kernel if /proc is not mounted. Any thread. Source: capabilities(7), user_namespaces(7), proc(5).
 *
 *	if (!capability_is_held(kernel, CAPABILITY_PERFMON)) ...
 */
#ifndef KERNEL_SYSTEM_CAPABILITIES_H
#define KERNEL_SYSTEM_CAPABILITIES_H

#include "kernel/system/kernel_seam.h"

enum capability {
	CAPABILITY_SYS_PTRACE = 19,
	CAPABILITY_SYS_ADMIN = 21,
	CAPABILITY_SYSLOG = 34,
	CAPABILITY_PERFMON = 38,
	CAPABILITY_BPF = 39,
};

/* Whether this process is in a user namespace other than the first one. */
bool user_namespace_is_nested(const struct kernel_seam *kernel);
/* Whether this process is in a PID namespace other than the first one, whose numbers of threads the kernel's tracing
 * has: in the fields of tracepoints (common_pid), filters, ftrace and BPF programs. Records of events have ours. */
bool pid_namespace_is_nested(const struct kernel_seam *kernel);
/* Whether the capability is in effect, and is valid for the whole machine. */
bool capability_is_held(const struct kernel_seam *kernel, enum capability capability);
/* The number behind a field of /proc/self/status ("\nCapEff:"); 0 if there is none. */
uint64_t own_status_number(const struct kernel_seam *kernel, const char *field, int base);

#endif
