/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_quota.h - sums up for how long CPU quotas throttled the cgroups of recorded processes, from cpu.stat, for sources of
 * waits that do not see which threads that concerned.
 *
 * A quota of a cgroup holds for those below it, so its parents are read, too. What happened before a process was seen in its
 * cgroup is not counted. Best effort: where a file cannot be read, or out of memory, less is counted. The owner calls
 * wait_quota_deinit. One thread. Sources: cgroups(7), Documentation/admin-guide/cgroup-v2.rst, Documentation/scheduler/sched-bwc.rst.
 *
 *	wait_quota_add(&quota, pid); ...   wait_quota_look(&quota); ...   ns = wait_quota_ns(&quota);   wait_quota_deinit(&quota);
 */
#ifndef TASKS_RECORDING_WAIT_QUOTA_H
#define TASKS_RECORDING_WAIT_QUOTA_H

#include "base/map_u64.h"
#include "base/vec.h"
#include "kernel/system/kernel_seam.h"

struct wait_quota_group {
	char *directory;
	uint64_t first_ns, last_ns; /* throttled time when it was read first and last */
};

struct wait_quota {
	const struct kernel_seam *kernel;
	struct map_u64 known; /* processes */
	VEC(uint32_t) pids;
	size_t next; /* whose cgroup is read next */
	VEC(struct wait_quota_group) groups;
};

void wait_quota_deinit(struct wait_quota *quota);
/* A process that was recorded. */
void wait_quota_add(struct wait_quota *quota, uint32_t pid);
/* Reads the cgroups of some processes, which may change, and the throttled time of all cgroups. */
void wait_quota_look(struct wait_quota *quota);
/* Throttled time of all of them so far, as the kernel counts it: for each CPU on which threads of a cgroup were stopped. */
uint64_t wait_quota_ns(const struct wait_quota *quota);

#endif
