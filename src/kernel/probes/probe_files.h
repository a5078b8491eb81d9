/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_files.h - reads the kernel's list of probes, and adds and removes some.
 *
 * The list owns what it has read (probe_list_deinit). Lines are written one by one through one descriptor, so that the
 * kernel says of each whether it took it; when it refuses one, those that the call had added are removed again, and so
 * they are when the process is asked to end meanwhile.
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
	VEC(struct probe_event) events; /* those of the kernel first, each in the kernel's order */
	struct arena arena;
	bool has_kernel_file, has_user_file; /* kprobe_events and uprobe_events are there */
};

/* UNSUPPORTED: no tracefs; DENIED: it cannot be read. */
TALLY_MUST_CHECK enum tally_status probe_list_read(
	const struct kernel_seam *kernel, struct probe_list *list, struct tally_error *err);
void probe_list_deinit(struct probe_list *list);

/* Adds all of the events or none. Their files are chosen by is_user. namespace_pid > 0: the paths of programs are in the
 * mount namespace of this process; only one thread runs then. */
TALLY_MUST_CHECK enum tally_status probe_files_add(const struct kernel_seam *kernel, const struct probe_event *events,
	size_t count, int32_t namespace_pid, struct tally_error *err);
/* Removes them; goes on behind one that the kernel keeps, and returns the first error. INVALID: the process was asked to
 * end before the last one. removed: a flag for each, false before; NULL: nobody asks. */
TALLY_MUST_CHECK enum tally_status probe_files_remove(const struct kernel_seam *kernel,
	const struct probe_event *events, size_t count, bool *removed, struct tally_error *err);

#endif
