/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracepoints.h - finds the kernel's tracepoints by name, in tracefs.
 *
 * Looks under /sys/kernel/tracing, then /sys/kernel/debug/tracing. Lists belong to the caller.
 * Source: Documentation/trace/events.rst.
 *
 *	uint64_t id;
 *	if (tracepoint_id(kernel, STR("sched"), STR("sched_switch"), &id, err) == TALLY_OK) attr.config = id;
 */
#ifndef KERNEL_EVENTS_TRACEPOINTS_H
#define KERNEL_EVENTS_TRACEPOINTS_H

#include "base/bytes.h"
#include "kernel/system/kernel_files.h"

/* Where tracefs is, "" if nowhere; a constant. With root's rights it is mounted first if it is not. */
const char *tracefs_directory(const struct kernel_seam *kernel);
/* NOT_FOUND: no such tracepoint, with the nearest one; DENIED: tracefs cannot be read, with what opens it. */
TALLY_MUST_CHECK enum tally_status tracepoint_id(const struct kernel_seam *kernel, struct tally_str system,
	struct tally_str name, uint64_t *id, struct tally_error *err);
/* "system:name" of all that match both patterns (* ? [set]), sorted; none: NOT_FOUND. */
TALLY_MUST_CHECK enum tally_status tracepoint_names(const struct kernel_seam *kernel, struct tally_str system_pattern,
	struct tally_str name_pattern, struct name_list *names, struct tally_error *err);

#endif
