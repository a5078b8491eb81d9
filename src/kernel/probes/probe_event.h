/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_event.h - reads and writes one line of the kernel's uprobe_events or kprobe_events.
 *
 *	p:probe_app/add /usr/bin/app:0x1139 x=%di:s32
 *	r:probe/vfs_read__return vfs_read arg1=$retval
 *
 * Pure; slices are borrowed from the line. Source: Documentation/trace/uprobetracer.rst and kprobetrace.rst.
 *
 *	struct probe_event event;
 *	if (probe_event_parse(line, true, &event)) probe_event_print(&event, &text);
 */
#ifndef KERNEL_PROBES_PROBE_EVENT_H
#define KERNEL_PROBES_PROBE_EVENT_H

#include "base/bytes.h"
#include "base/text.h"

#define PROBE_EVENT_NAME_BYTES 64 /* of a group or an event, with the byte that ends it */

struct probe_event {
	char kind; /* 'p', or 'r' at the return; other letters: an event of another kind, which is only shown */
	bool is_user; /* of uprobe_events */
	struct tally_str group, event;
	struct tally_str file; /* of a uprobe: the program; of a kprobe: the module, or empty */
	struct tally_str symbol; /* of a kprobe; empty: offset is an address */
	uint64_t offset; /* in the program file; or from the symbol */
	uint64_t semaphore; /* of a uprobe: offset in the file of the counter that the kernel raises; 0: none */
	struct tally_str arguments; /* "x=%di:s32 y=%si:s32" */
};

struct probe_event_argument {
	struct tally_str name; /* empty: none */
	struct tally_str text; /* what is fetched, with its type */
};

/* False: it is no such line. */
bool probe_event_parse(struct tally_str line, bool is_user, struct probe_event *event);
/* Without a newline. */
void probe_event_print(const struct probe_event *event, struct text *out);
/* The next of event.arguments; rest shrinks. */
bool probe_event_next_argument(struct tally_str *rest, struct probe_event_argument *argument);
/* Whether a pattern of --del or --list means the event: "EVENT" or "GROUP:EVENT", each with wildcards. */
bool probe_event_matches(const struct probe_event *event, struct tally_str pattern);

#endif
