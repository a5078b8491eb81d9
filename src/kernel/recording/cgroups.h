/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroups.h - lists the existing control groups: their IDs, as samples carry them, and their paths.
 *
 * It visits the hierarchy that perf events use: that of the version 1 controller perf_event if it is mounted, else that
 * of version 2. A group that is removed meanwhile is left out. Source: cgroups(7); name_to_handle_at(2) returns the ID
 * of PERF_RECORD_CGROUP.
 *
 *	status = cgroups_each(kernel, put_group, &context, err);
 */
#ifndef KERNEL_RECORDING_CGROUPS_H
#define KERNEL_RECORDING_CGROUPS_H

#include "base/bytes.h"
#include "kernel/system/kernel_seam.h"

/* Called for each group; path is relative to the root of the hierarchy, which is "/". A failure ends the visit. */
typedef enum tally_status (*cgroup_visit)(void *context, uint64_t id, struct tally_str path, struct tally_error *err);
/* Visits all groups. Returns TALLY_OK if no hierarchy is mounted. */
TALLY_MUST_CHECK enum tally_status cgroups_each(
	const struct kernel_seam *kernel, cgroup_visit visit, void *context, struct tally_error *err);
/* Finds the mount point of the hierarchy in the text of /proc/mounts; the result points into mounts, and is empty if no
 * hierarchy is mounted. */
struct tally_str cgroups_mount_point(struct tally_str mounts);

#endif
