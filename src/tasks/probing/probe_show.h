/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_show.h - shows probes as perf does: "  probe_app:add         (on add:2@/src/a.c in /usr/bin/app with x y)".
 *
 * A viewer opens each binary once, and owns it (probe_viewer_deinit).
 *
 *	struct probe_viewer viewer;
 *	probe_viewer_init(&viewer, symfs);
 *	probe_show_listed(&viewer, &list.events.items[0], &text);
 */
#ifndef TASKS_PROBING_PROBE_SHOW_H
#define TASKS_PROBING_PROBE_SHOW_H

#include "tasks/probing/probe_convert.h"

struct probe_viewed {
	char *path; /* of a program; "[nf_nat]" of a module; empty: the kernel */
	struct probe_binary *binary; /* NULL: it cannot be opened */
};

struct probe_viewer {
	VEC(struct probe_viewed) binaries;
	const char *symfs, *vmlinux; /* NULL: none */
};

void probe_viewer_init(struct probe_viewer *viewer, const char *symfs, const char *vmlinux);
void probe_viewer_deinit(struct probe_viewer *viewer);

/* A probe that was made of a definition, with its newline. */
void probe_show_made(const struct probe_converted *probe, const struct probe_binary *binary, struct text *out);
/* Where a probe of the kernel is, by its binary: "add:2@/src/a.c"; as the kernel has it if nothing else is known. */
void probe_show_place(struct probe_viewer *viewer, const struct probe_event *event, struct text *out);
/* A probe of the kernel: its place is looked up in its binary. */
void probe_show_listed(struct probe_viewer *viewer, const struct probe_event *event, struct text *out);

#endif
