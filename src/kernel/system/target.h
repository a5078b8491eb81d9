/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - converts the target of a measurement (a command, processes, threads, CPUs, a user, the whole system) to
 * the (pid, cpu) pairs of perf_event_open.
 *
 * The caller owns the target (target_deinit). CPU lists have the syntax of perf's -C ("0-3,8").
 */
#ifndef KERNEL_SYSTEM_TARGET_H
#define KERNEL_SYSTEM_TARGET_H

#include "kernel/system/kernel_seam.h"

struct target_request { /* Values of the options; NULL or false if not set. */
	const char *pids, *tids, *cpus, *user;
	bool system_wide;
	bool has_command;
	bool per_thread; /* Option --per-thread. */
};

struct target {
	int *cpus; /* CPUs on which events are opened; {-1} for any. */
	size_t cpu_count;
	/* Number of measured CPUs, which come first; the others only provide names and mappings. */
	size_t measured_count;
	pid_t *threads; /* {-1} for all (system-wide). For a command, its PID is stored here after the spawn. */
	size_t thread_count;
	bool is_system_wide; /* -a or -C, without a process or thread. */
	bool is_command;
	bool is_overriding; /* Processes or threads were given together with CPUs or -a, and take precedence. */
	char *offline; /* Requested CPUs that are not online, such as "2-7,99"; NULL if none. */
	/* Target in the heading of stat: "'CPU(s) 0-1'", "'system wide'", "process id '12'"; "" for a command. */
	char *label;
};

/* Resolves the request; TALLY_NOT_FOUND for an unknown process, thread or user, or if none of the CPUs is online. */
TALLY_MUST_CHECK enum tally_status target_resolve(const struct kernel_seam *kernel,
	const struct target_request *request, struct target *target, struct tally_error *err);
/* Appends the other online CPUs, because threads that run on a chosen CPU may have been started elsewhere. */
TALLY_MUST_CHECK enum tally_status target_add_other_cpus(
	const struct kernel_seam *kernel, struct target *target, struct tally_error *err);
void target_deinit(struct target *target);
/* Replaces cpus {-1} by all online CPUs, as required for rings of inherited events. Does nothing if CPUs were given. */
TALLY_MUST_CHECK enum tally_status target_spread_over_cpus(
	const struct kernel_seam *kernel, struct target *target, struct tally_error *err);
/* Lists the threads of a process in an array that the caller frees; TALLY_NOT_FOUND if the process has ended. */
TALLY_MUST_CHECK enum tally_status process_threads(
	const struct kernel_seam *kernel, pid_t pid, pid_t **threads, size_t *count, struct tally_error *err);

#endif
