/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporary_probes.h - adds probes of user programs that exist as long as this process.
 *
 * They are events of tracefs, because only those have arguments, and only those are inherited by threads and children.
 * The kernel keeps them when a process ends, so a small helper process (the guard) monitors this one and removes the
 * probes when this one ends in any way, also by SIGKILL. Normally they are removed at exit, once their events are
 * closed. If both processes are killed at once, the next run that adds probes removes the leftovers; the name of a
 * group identifies the process that created it.
 *
 * Not thread-safe. The list of added probes is global to the process.
 *
 *	struct probe_event events[2] = {...};
 *	if (temporary_probes_add(kernel, events, 2, err) == TALLY_OK) ... events[0].group is a new group
 */
#ifndef TASKS_PROBING_TEMPORARY_PROBES_H
#define TASKS_PROBING_TEMPORARY_PROBES_H

#include "kernel/probes/probe_files.h"

/* Adds all of the probes or none, in a new group. Sets the group of each event to its name, which lives until the
 * process ends. The errors are those of probe_files_add. */
TALLY_MUST_CHECK enum tally_status temporary_probes_add(
	const struct kernel_seam *kernel, struct probe_event *events, size_t count, struct tally_error *err);
/* Removes the probes of this process that have no open events; the guard removes the others. */
void temporary_probes_remove(void);
/* Removes the probes of processes that have ended, and returns their number. Ignores those of other PID namespaces. */
size_t temporary_probes_sweep(const struct kernel_seam *kernel);

#endif
