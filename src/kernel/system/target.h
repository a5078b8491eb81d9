/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - turns the target of a measurement (a command, processes, threads, CPUs, a user, the whole system) into the
 * (pid, cpu) pairs that perf_event_open takes.
 *
 * The caller owns the target (target_deinit). CPU lists are as perf's -C ("0-3,8").
 */
#ifndef KERNEL_SYSTEM_TARGET_H
#define KERNEL_SYSTEM_TARGET_H

#include "kernel/system/kernel_seam.h"

struct target_request { /* the values of the options; NULL/false: not given */
	const char *pids, *tids, *cpus, *user;
	bool system_wide;
	bool has_command;
	bool per_thread;
};

struct target {
	int *cpus; /* to open on; {-1} for any */
	size_t cpu_count;
	size_t measured_count; /* the first of them are measured; the others are for names and mappings */
	pid_t *threads; /* {-1} for all (system-wide); the command's pid is put in after the spawn */
	size_t thread_count;
	bool is_system_wide; /* -a or -C without pid/tid */
	bool is_command;
	bool is_overriding; /* pids or tids were given together with CPUs or -a: they win */
	char *offline; /* "2-7,99": CPUs that were asked for and are not online; NULL: there are none */
	char *label; /* "'CPU(s) 0-1'", "'system wide'", "process id '12'" as perf stat's heading; "" for a command */
};

/* Unknown pid/tid/user, or no online CPU at all: TALLY_NOT_FOUND with one clear sentence. */
TALLY_MUST_CHECK enum tally_status target_resolve(const struct kernel_seam *kernel,
	const struct target_request *request, struct target *target, struct tally_error *err);
/* Appends the other CPUs that are online, because threads that run on a chosen CPU may have been started elsewhere. */
TALLY_MUST_CHECK enum tally_status target_add_other_cpus(
	const struct kernel_seam *kernel, struct target *target, struct tally_error *err);
void target_deinit(struct target *target);
/* Opens on each online CPU instead of {-1}: what rings of inherited events need. No-op if CPUs were named. */
TALLY_MUST_CHECK enum tally_status target_spread_over_cpus(
	const struct kernel_seam *kernel, struct target *target, struct tally_error *err);
/* The threads of a process; the array belongs to the caller. A process that is gone: NOT_FOUND. */
TALLY_MUST_CHECK enum tally_status process_threads(
	const struct kernel_seam *kernel, pid_t pid, pid_t **threads, size_t *count, struct tally_error *err);

#endif
