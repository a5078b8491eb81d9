/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_names.h - names the events of probes: from functions, unique among those that the kernel has.
 *
 * Probes that fetch arguments of the same names and types may share one event, as the kernel allows: the places of one
 * definition do. Owned by the caller (probe_names_deinit); the list of the kernel's events may go away.
 *
 *	struct probe_names names;
 *	probe_names_init(&names, &list, is_forced);
 *	status = probe_names_choose(&names, &event, &arena, &is_double, err);
 */
#ifndef TASKS_PROBING_PROBE_NAMES_H
#define TASKS_PROBING_PROBE_NAMES_H

#include "base/intern.h"
#include "kernel/probes/probe_files.h"

struct probe_names_use { /* of an event of this command; by the id of its name */
	char kind; /* 0: the kernel had it before */
	uint64_t signature; /* of the names and types of its arguments */
	uint32_t suffix; /* that is tried next */
	uint32_t last; /* the sibling that was made last; INTERN_NONE: none */
};

struct probe_names {
	struct intern events; /* "group:event" */
	struct intern lines; /* what this command adds */
	VEC(struct probe_names_use) uses;
	bool is_forced; /* an event that is there gets a sibling: NAME_1 */
};

/* list NULL: what the kernel has is not known. False: out of memory. */
bool probe_names_init(struct probe_names *names, const struct probe_list *list, bool is_forced);
void probe_names_deinit(struct probe_names *names);
/* Changes event->event to NAME_1 and so on where NAME is taken; the new name is in the arena. is_double: this command
 * has the very same probe already. INVALID, with errnum EEXIST: the kernel has the event, and nothing is forced. */
TALLY_MUST_CHECK enum tally_status probe_names_choose(struct probe_names *names, struct probe_event *event,
	struct arena *arena, bool *is_double, struct tally_error *err);

enum probe_name_start {
	PROBE_NAME_STRIPPED,
	PROBE_NAME_WHOLE
}; /* without or with the underscores that it begins with */

/* "_foo.part.0" -> "foo_part_0", "ns::f(int)" -> "ns_f_int_", cut so that it fits; empty: out of memory. */
struct tally_str probe_name_of_function(
	struct arena *arena, struct tally_str function, enum probe_name_start start, struct tally_str suffix);
/* "/lib/libc.so.6" -> "probe_libc". */
struct tally_str probe_name_of_group(struct arena *arena, const char *path);

#endif
