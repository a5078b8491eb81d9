/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_show.h - prints probes in perf's format:
 *
 *	  probe_app:add         (on add:2@/src/a.c in /usr/bin/app with x y)
 *
 * A viewer opens each binary once, and owns it (probe_viewer_deinit).
 *
 *	struct probe_viewer viewer;
 *	probe_viewer_init(&viewer, symfs, vmlinux);
 *	probe_show_listed(&viewer, &list.events.items[0], &text);
 */
#ifndef TASKS_PROBING_PROBE_SHOW_H
#define TASKS_PROBING_PROBE_SHOW_H

#include "tasks/probing/probe_convert.h"

struct probe_viewed {
	char *path; /* Path of a program, "[nf_nat]" for a module, or "" for the kernel. */
	struct probe_binary *binary; /* NULL if the binary cannot be opened. */
};

struct probe_viewer {
	VEC(struct probe_viewed) binaries;
	const char *symfs, *vmlinux; /* NULL if not given. */
};

void probe_viewer_init(struct probe_viewer *viewer, const char *symfs, const char *vmlinux);
void probe_viewer_deinit(struct probe_viewer *viewer);

/* Appends a line for a probe that was converted from a definition. */
void probe_show_made(const struct probe_converted *probe, const struct probe_binary *binary, struct text *out);
/* Appends the place of a probe that the kernel lists, such as "add:2@/src/a.c", according to the debug information or
 * the symbols of its binary; if these do not contain the place, appends it as the kernel lists it. */
void probe_show_place(struct probe_viewer *viewer, const struct probe_event *event, struct text *out);
/* Appends a line for a probe that the kernel lists, with the place from probe_show_place. */
void probe_show_listed(struct probe_viewer *viewer, const struct probe_event *event, struct text *out);

#endif
