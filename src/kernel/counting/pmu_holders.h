/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu_holders.h - lists the NMI watchdog and other processes that have performance events open.
 *
 * Processes of other users are listed only if this process may read their descriptors. The list belongs to the caller
 * (pmu_holders_deinit).
 *
 * Source: proc(5); Documentation/admin-guide/sysctl/kernel.rst, nmi_watchdog.
 */
#ifndef KERNEL_COUNTING_PMU_HOLDERS_H
#define KERNEL_COUNTING_PMU_HOLDERS_H

#include "kernel/system/kernel_seam.h"

/* WATCHDOG_HOLDS_COUNTER: the NMI watchdog is on and occupies one counter on each CPU. */
enum watchdog_state { WATCHDOG_UNKNOWN, WATCHDOG_OFF, WATCHDOG_HOLDS_COUNTER };

struct pmu_holder {
	pid_t pid;
	char *comm; /* Allocated by malloc. */
	size_t events; /* Number of open descriptors of perf events. */
};

struct pmu_holders {
	struct pmu_holder *items;
	size_t len, cap;
	size_t unseen; /* Number of processes that could not be examined. */
};

enum watchdog_state watchdog_state(const struct kernel_seam *kernel);
/* Lists the processes, except the calling one, that have performance events open. */
TALLY_MUST_CHECK enum tally_status pmu_holders_find(
	const struct kernel_seam *kernel, struct pmu_holders *holders, struct tally_error *err);
void pmu_holders_deinit(struct pmu_holders *holders);

#endif
