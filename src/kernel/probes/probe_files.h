/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_files.h - reads the kernel's list of probes, and adds and removes probes.
 *
 * The list owns its strings (probe_list_deinit). Lines are written one by one, so that the kernel reports the result of
 * each. If it refuses one, or if a signal that ends the process arrives meanwhile, the probes that the call has added
 * are removed again.
 *
 *	struct probe_list list;
 *	if (probe_list_read(kernel, &list, err) == TALLY_OK) ...
 *	probe_list_deinit(&list);
 */
#ifndef KERNEL_PROBES_PROBE_FILES_H
#define KERNEL_PROBES_PROBE_FILES_H

#include <tally/status.h>

#include "base/arena.h"
#include "base/vec.h"
#include "kernel/probes/probe_event.h"
#include "kernel/system/kernel_seam.h"

struct probe_list {
	VEC(struct probe_event) events; /* Probes of the kernel, then of programs, each in the order of the file. */
	struct arena arena;
	bool has_kernel_file, has_user_file; /* The kernel has kprobe_events and uprobe_events. */
};

/* Reads the list; TALLY_UNSUPPORTED if tracefs is not mounted, TALLY_DENIED if it cannot be read. */
TALLY_MUST_CHECK enum tally_status probe_list_read(
	const struct kernel_seam *kernel, struct probe_list *list, struct tally_error *err);
void probe_list_deinit(struct probe_list *list);

/* Adds all of the events or none; is_user of each selects the file. If namespace_pid is positive, the paths of binaries
 * are resolved in the mount namespace of that process, and this process must have a single thread. */
TALLY_MUST_CHECK enum tally_status probe_files_add(const struct kernel_seam *kernel, const struct probe_event *events,
	size_t count, int32_t namespace_pid, struct tally_error *err);
/* Removes the events; continues after one that the kernel refuses to remove, and returns the first error. If a signal
 * that ends the process arrives, stops and returns TALLY_INVALID. removed has one flag per event, initially false,
 * which is set to true if the event was removed; it may be NULL. */
TALLY_MUST_CHECK enum tally_status probe_files_remove(const struct kernel_seam *kernel,
	const struct probe_event *events, size_t count, bool *removed, struct tally_error *err);

#endif
