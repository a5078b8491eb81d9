/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_names.h - names the events of probes after functions, and makes the names unique among the kernel's events.
 *
 * The kernel allows probes that fetch arguments of the same names and types to share one event, and the places of one
 * definition do so. The caller owns struct probe_names (probe_names_deinit); the list of the kernel's events may be
 * freed after probe_names_init.
 *
 *	struct probe_names names;
 *	probe_names_init(&names, &list, is_forced);
 *	status = probe_names_choose(&names, &event, &arena, &is_double, err);
 */
#ifndef TASKS_PROBING_PROBE_NAMES_H
#define TASKS_PROBING_PROBE_NAMES_H

#include "base/intern.h"
#include "kernel/probes/probe_files.h"

/* State of an event name; the index in uses is the ID of the name in events. */
struct probe_names_use {
	char kind; /* 'p' or 'r', '?' if the name is not used yet, or 0 if the kernel already had the event. */
	uint64_t signature; /* Hash of the kind, and of the names and types of the arguments. */
	uint32_t suffix; /* Next suffix to try. */
	uint32_t last; /* ID of the name that was last made from this one with a suffix, or INTERN_NONE. */
};

struct probe_names {
	struct intern events; /* Names in the form "group:event". */
	struct intern lines; /* Definitions of the probes that this command adds. */
	VEC(struct probe_names_use) uses;
	bool is_forced; /* If the event already exists, a new one is named NAME_1 instead of failing. */
};

/* list is NULL if the kernel's events are not known. Returns false if memory runs out. */
bool probe_names_init(struct probe_names *names, const struct probe_list *list, bool is_forced);
void probe_names_deinit(struct probe_names *names);
/* Changes event->event to NAME_1 and so on if NAME is in use; the new name is allocated in the arena. Sets is_double if
 * this command already adds an identical probe. Returns INVALID with errnum EEXIST if the kernel already has the event
 * and is_forced is not set. */
TALLY_MUST_CHECK enum tally_status probe_names_choose(struct probe_names *names, struct probe_event *event,
	struct arena *arena, bool *is_double, struct tally_error *err);

/* Whether leading underscores of the function's name are removed or kept. */
enum probe_name_start { PROBE_NAME_STRIPPED, PROBE_NAME_WHOLE };

/* Converts "_foo.part.0" to "foo_part_0", and "ns::f(int)" to "ns_f_int_", and appends a suffix such as "__return". The
 * name is truncated to the kernel's limit. It is allocated in the arena, and is empty if memory runs out. */
struct tally_str probe_name_of_function(
	struct arena *arena, struct tally_str function, enum probe_name_start start, struct tally_str suffix);
/* Converts "/lib/libc.so.6" to "probe_libc". */
struct tally_str probe_name_of_group(struct arena *arena, const char *path);

#endif
