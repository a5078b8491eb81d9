/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_usage.h - measures the CPU time, page faults, context switches and migrations of a thread, a process or a
 * command with its descendants, from getrusage(2), /proc and the CPU clocks of processes. It opens no events.
 *
 * A usage_watch measures one target repeatedly. /proc has switches and migrations per thread, and only while the thread
 * lives; the watch adds the last values of threads that have ended. Threads that start and end between two readings are
 * missed. For a command, wait4(2) returns the complete number of switches at the end. One thread.
 *
 *	struct usage_watch watch = {
 *		.kernel = kernel, .scope = USAGE_OF_PROCESS, .task = pid, .wanted = USAGE_BIT(USAGE_CPU)};
 *	if (usage_watch_look(&watch, &usage)) ... usage.values[USAGE_CPU] ...
 *	usage_watch_deinit(&watch);
 *
 * Source: proc(5), getrusage(2), clock_getcpuclockid(3).
 */
#ifndef KERNEL_COUNTING_TASK_USAGE_H
#define KERNEL_COUNTING_TASK_USAGE_H

#include <sys/resource.h>

#include "base/vec.h"
#include "kernel/system/kernel_seam.h"

enum usage_kind {
	USAGE_USER, /* CPU time in user mode, in nanoseconds. */
	USAGE_SYSTEM, /* CPU time in the kernel, in nanoseconds. */
	USAGE_CPU, /* Sum of USAGE_USER and USAGE_SYSTEM, from the most precise source. */
	USAGE_MINOR_FAULTS,
	USAGE_MAJOR_FAULTS,
	USAGE_SWITCHES,
	USAGE_MIGRATIONS,
	USAGE_KINDS
};
#define USAGE_BIT(kind) (1u << (kind))

enum usage_scope {
	USAGE_OF_THREAD,
	USAGE_OF_PROCESS, /* All threads of a process, without child processes. */
	USAGE_OF_COMMAND, /* A process with its running descendants and those that were waited for. */
};

struct task_usage {
	uint64_t values[USAGE_KINDS];
	unsigned known; /* USAGE_BITs of the kinds that are complete. */
};

struct usage_task { /* A thread that existed at the last reading. */
	pid_t id;
	uint64_t switches, migrations;
};

struct usage_watch {
	const struct kernel_seam *kernel;
	enum usage_scope scope;
	pid_t task;
	/* USAGE_BITs of the kinds to read; times and faults need one file, the others two files per thread. */
	unsigned wanted;
	VEC(struct usage_task) alive; /* Sorted by id. */
	uint64_t ended_switches, ended_migrations; /* Sums of the threads that have ended. */
};

/* Reads the wanted kinds; returns false if the task has ended or reading failed. Values may be smaller than those of
 * the previous reading, because the clocks of /proc are coarse. */
bool usage_watch_look(struct usage_watch *watch, struct task_usage *usage);
void usage_watch_deinit(struct usage_watch *watch);
/* Converts the result of wait4(2) for a command that has ended. It contains no migrations. */
struct task_usage task_usage_of_end(const struct rusage *usage);

#endif
