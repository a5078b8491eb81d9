/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capabilities.h - finds out the privileges of this process that matter for perf events: its capabilities in the
 * initial user namespace, and whether it is in the initial PID namespace. Root of another user namespace (a rootless
 * container, a sandbox) has all capabilities, but they have no effect outside of it.
 *
 * It reads /proc/self below the seam's root, and uses system calls if /proc is not mounted. Any thread. Source:
 * capabilities(7), user_namespaces(7), proc(5).
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

/* Returns whether this process is in a user namespace other than the initial one. */
bool user_namespace_is_nested(const struct kernel_seam *kernel);
/* Returns whether this process is in a PID namespace other than the initial one. Tracing (common_pid of tracepoints,
 * filters, ftrace, BPF programs) uses the TIDs of the initial namespace, records of events those of this process. */
bool pid_namespace_is_nested(const struct kernel_seam *kernel);
/* Returns whether the capability is effective in the initial user namespace. */
bool capability_is_held(const struct kernel_seam *kernel, enum capability capability);
/* Returns the number in this base after a field of /proc/self/status, such as "\nCapEff:"; 0 if there is none. */
uint64_t own_status_number(const struct kernel_seam *kernel, const char *field, int base);

#endif
