/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_quota.h - sums up for how long CPU quotas throttled the cgroups of recorded processes, from cpu.stat, for
 * sources of waits that cannot attribute this to threads.
 *
 * A quota of a cgroup applies to all cgroups below it, so its parents are read, too. Throttling before a process was
 * seen in its cgroup is not counted. Best effort: if a file cannot be read, or memory runs out, less is counted. The
 * caller calls wait_quota_deinit. Not thread-safe. Sources: cgroups(7), Documentation/admin-guide/cgroup-v2.rst,
 * Documentation/scheduler/sched-bwc.rst.
 *
 *	wait_quota_add(&quota, pid); ...   wait_quota_look(&quota); ...   ns = wait_quota_ns(&quota);
 *	wait_quota_deinit(&quota);
 */
#ifndef TASKS_RECORDING_WAIT_QUOTA_H
#define TASKS_RECORDING_WAIT_QUOTA_H

#include "base/map_u64.h"
#include "base/vec.h"
#include "kernel/system/kernel_seam.h"

struct wait_quota_group {
	char *directory;
	uint64_t first_ns, last_ns; /* Throttled time when it was read for the first and for the last time. */
};

struct wait_quota {
	const struct kernel_seam *kernel;
	struct map_u64 known; /* Set of the processes in pids. */
	VEC(uint32_t) pids;
	/* Counter; next % pids.len is the index of the process for which the cgroup is read next. */
	size_t next;
	VEC(struct wait_quota_group) groups;
};

void wait_quota_deinit(struct wait_quota *quota);
/* Adds a recorded process. */
void wait_quota_add(struct wait_quota *quota, uint32_t pid);
/* Reads the cgroups of some processes, which may change, and the throttled time of all cgroups. */
void wait_quota_look(struct wait_quota *quota);
/* Returns the throttled time of all cgroups so far. The kernel counts it separately for each CPU on which threads of a
 * cgroup were stopped. */
uint64_t wait_quota_ns(const struct wait_quota *quota);

#endif
