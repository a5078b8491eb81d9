/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracepoints.h - finds the kernel's tracepoints by name, in tracefs.
 *
 * tracefs is expected at /sys/kernel/tracing, then at /sys/kernel/debug/tracing. Lists belong to the caller.
 * Source: Documentation/trace/events.rst.
 *
 *	uint64_t id;
 *	if (tracepoint_id(kernel, STR("sched"), STR("sched_switch"), &id, err) == TALLY_OK) attr.config = id;
 */
#ifndef KERNEL_EVENTS_TRACEPOINTS_H
#define KERNEL_EVENTS_TRACEPOINTS_H

#include "base/bytes.h"
#include "kernel/system/kernel_files.h"

/* Returns the directory of tracefs, which is a constant string, or "" if it is not mounted. If it is not mounted and
 * the process is root, it is mounted first. */
const char *tracefs_directory(const struct kernel_seam *kernel);
/* Reads the ID of a tracepoint. Returns TALLY_NOT_FOUND, with the nearest name, if there is none of this name, and
 * TALLY_DENIED, with the remedy, if tracefs cannot be read. */
TALLY_MUST_CHECK enum tally_status tracepoint_id(const struct kernel_seam *kernel, struct tally_str system,
	struct tally_str name, uint64_t *id, struct tally_error *err);
/* Lists the tracepoints that match both patterns (* ? [set]) as "system:name", sorted; TALLY_NOT_FOUND if none. */
TALLY_MUST_CHECK enum tally_status tracepoint_names(const struct kernel_seam *kernel, struct tally_str system_pattern,
	struct tally_str name_pattern, struct name_list *names, struct tally_error *err);

#endif
