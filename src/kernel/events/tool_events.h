/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_events.h - names the events that the tool itself measures, and evaluates those that are constants of the
 * machine.
 *
 * The names are those of "perf list tool".
 *
 *	enum tool_event tool = tool_event_find(STR("num_cpus"));
 *	if (tool_event_is_constant(tool) && tool_event_constant(kernel, tool, false, &value)) ...
 */
#ifndef KERNEL_EVENTS_TOOL_EVENTS_H
#define KERNEL_EVENTS_TOOL_EVENTS_H

#include "base/bytes.h"
#include "kernel/events/event_spec.h"
#include "kernel/system/kernel_seam.h"

/* Returns TOOL_NONE if there is no such name. */
enum tool_event tool_event_find(struct tally_str name);
/* Returns NULL for TOOL_NONE. */
const char *tool_event_name(enum tool_event tool);
/* Returns a description of one line; NULL for TOOL_NONE. */
const char *tool_event_description(enum tool_event tool);
/* Returns whether the event is a constant of the machine, not a time of a run. */
bool tool_event_is_constant(enum tool_event tool);
/* Returns whether the event has the same value for all CPUs and threads, so that values must not be added up. */
bool tool_event_is_shared(enum tool_event tool);
/* Evaluates a constant; false if the machine does not provide it. is_system_wide says whether CPUs are measured. */
bool tool_event_constant(const struct kernel_seam *kernel, enum tool_event tool, bool is_system_wide, uint64_t *value);

#endif
