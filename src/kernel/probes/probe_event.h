/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_event.h - parses and prints lines of uprobe_events and kprobe_events in tracefs.
 *
 *	p:probe_app/add /usr/bin/app:0x1139 x=%di:s32
 *	r:probe/vfs_read__return vfs_read arg1=$retval
 *
 * Pure; strings point into the line. Source: Documentation/trace/uprobetracer.rst and kprobetrace.rst.
 *
 *	struct probe_event event;
 *	if (probe_event_parse(line, true, &event)) probe_event_print(&event, &text);
 */
#ifndef KERNEL_PROBES_PROBE_EVENT_H
#define KERNEL_PROBES_PROBE_EVENT_H

#include "base/bytes.h"
#include "base/text.h"

#define PROBE_EVENT_NAME_BYTES 64 /* Size of the name of a group or an event, including the NUL. */

struct probe_event {
	/* 'p' for a probe, 'r' for a return probe; other letters are other kinds of events, which are only shown. */
	char kind;
	bool is_user; /* The event is from uprobe_events. */
	struct tally_str group, event;
	struct tally_str file; /* The binary of a uprobe; the module of a kprobe, or empty. */
	struct tally_str symbol; /* The function of a kprobe; empty if offset is an address. */
	uint64_t offset; /* Offset in the file of a uprobe; for a kprobe, from symbol. */
	/* For a uprobe: file offset of the reference counter that the kernel increments; 0 if none. */
	uint64_t semaphore;
	struct tally_str arguments; /* Such as "x=%di:s32 y=%si:s32". */
};

struct probe_event_argument {
	struct tally_str name; /* Empty if there is none. */
	struct tally_str text; /* Location and type of the value. */
};

/* Returns false if the line is malformed. */
bool probe_event_parse(struct tally_str line, bool is_user, struct probe_event *event);
/* Appends the line without a newline. */
void probe_event_print(const struct probe_event *event, struct text *out);
/* Parses the first argument of *rest, which is initially event.arguments, and removes it from there; returns false at
 * the end. */
bool probe_event_next_argument(struct tally_str *rest, struct probe_event_argument *argument);
/* Returns whether a pattern of --del or --list ("EVENT" or "GROUP:EVENT", with wildcards) matches the event. */
bool probe_event_matches(const struct probe_event *event, struct tally_str pattern);

#endif
