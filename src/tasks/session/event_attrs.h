/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_attrs.h - prepares the attributes of a recording's events for a rewritten file, both for the file's table and
 * for its description of events.
 *
 * Everything is allocated in the arena. Not thread-safe.
 *
 *	struct event_attrs attrs;
 *	event_attrs_make(&attrs, &arena, reader, &(struct attr_change){change, context});
 *	event_attrs_features(&attrs, &features);
 */
#ifndef TASKS_SESSION_EVENT_ATTRS_H
#define TASKS_SESSION_EVENT_ATTRS_H

#include "base/arena.h"
#include "perfdata/reader.h"

struct attr_change {
	/* Returns the new attribute for an attribute of the recording. */
	struct perf_attr (*make)(const void *context, const struct perf_attr *attr);
	const void *context;
};

struct event_attrs {
	struct arena *arena;
	const struct perfdata_reader *reader;
	struct attr_change change;
	struct tally_bytes *attrs; /* Encoded attributes indexed by event; see struct inject_options. */
	struct record_layout *layouts; /* Indexed by event. */
};

/* Returns false if memory runs out. */
bool event_attrs_make(struct event_attrs *attrs, struct arena *arena, const struct perfdata_reader *reader,
	const struct attr_change *change);
/* Updates the features that describe events to match their new attributes. Returns false if memory runs out. */
bool event_attrs_features(const struct event_attrs *attrs, struct perfdata_features *features);

#endif
