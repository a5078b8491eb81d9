/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporary_probes.h - adds probes of user programs that last as long as this process.
 *
 * They are events of tracefs, because only those have arguments, and only those are inherited by threads and children.
 * The kernel keeps them when a process ends, so a small process of our own (the guard) watches over this one: it removes
 * them when this one ends in any way, also by SIGKILL. Normally they are removed at exit, once their events are closed.
 * Should both be killed at once, the next run that adds probes removes what they left: the names of groups say which
 * process made them.
 *
 * One thread. What was added is global to the process, as its end is.
 *
 *	struct probe_event events[2] = {...};
 *	if (temporary_probes_add(kernel, events, 2, err) == TALLY_OK) ... events[0].group is a group of its own
 */
#ifndef TASKS_PROBING_TEMPORARY_PROBES_H
#define TASKS_PROBING_TEMPORARY_PROBES_H

#include "kernel/probes/probe_files.h"

/* Adds all of them or none, in a group of its own, whose name goes to each event and lives until the process ends. The
 * errors are those of probe_files_add. */
TALLY_MUST_CHECK enum tally_status temporary_probes_add(
	const struct kernel_seam *kernel, struct probe_event *events, size_t count, struct tally_error *err);
/* Removes those that this process has added, as far as none of their events is open; the guard has the rest. */
void temporary_probes_remove(void);
/* Removes those of processes that are gone, and returns how many. Another PID namespace's are left alone. */
size_t temporary_probes_sweep(const struct kernel_seam *kernel);

#endif
