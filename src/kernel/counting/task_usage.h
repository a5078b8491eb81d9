/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_usage.h - says what a thread, a process or a command with its descendants has used so far: CPU time, page faults,
 * context switches and migrations, as getrusage(2), /proc and the CPU clocks of processes know it. No events are opened.
 *
 * A watch follows one target from look to look. Switches and migrations are known per thread, and only while it lives: the
 * watch keeps what it last saw of threads that have ended. What began and ended between two looks is missed; for a command
 * wait4(2) tells the switches at the end, and then nothing is missing. One thread.
 *
 *	struct usage_watch watch = {.kernel = kernel, .scope = USAGE_OF_PROCESS, .task = pid, .wanted = USAGE_BIT(USAGE_CPU)};
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
	USAGE_USER, /* ns */
	USAGE_SYSTEM,
	USAGE_CPU, /* both, as precisely as it is known */
	USAGE_MINOR_FAULTS,
	USAGE_MAJOR_FAULTS,
	USAGE_SWITCHES,
	USAGE_MIGRATIONS,
	USAGE_KINDS
};
#define USAGE_BIT(kind) (1u << (kind))

enum usage_scope {
	USAGE_OF_THREAD,
	USAGE_OF_PROCESS, /* all its threads, without children */
	USAGE_OF_COMMAND, /* a process with the descendants that run, and those that were waited for */
};

struct task_usage {
	uint64_t values[USAGE_KINDS];
	unsigned known; /* bits of the kinds that are complete */
};

struct usage_task { /* a thread that was there at the last look */
	pid_t id;
	uint64_t switches, migrations;
};

struct usage_watch {
	const struct kernel_seam *kernel;
	enum usage_scope scope;
	pid_t task;
	unsigned
		wanted; /* bits of the kinds to look at; times and faults cost one file, the others two for each thread */
	VEC(struct usage_task) alive; /* by id */
	uint64_t ended_switches, ended_migrations; /* of threads that have ended */
};

/* Reads it all; false: the task is gone, or this look failed. Values may be smaller than those of the look before, since
 * the clocks of /proc are coarse. */
bool usage_watch_look(struct usage_watch *watch, struct task_usage *usage);
void usage_watch_deinit(struct usage_watch *watch);
/* What wait4(2) says of a command that has ended. Migrations are not in it. */
struct task_usage task_usage_of_end(const struct rusage *usage);

#endif
