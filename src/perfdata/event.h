/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - declares one event of a recording. The reader owns it and all that it points to.
 */
#ifndef PERFDATA_EVENT_H
#define PERFDATA_EVENT_H

#include "abi/sample.h"

struct perfdata_event {
	struct perf_attr attr;
	struct tally_bytes stored_attr; /* The bytes in the recording, in its byte order. */
	struct record_layout layout;
	struct tally_str name; /* From EVENT_DESC, EVENT_UPDATE or event_format; never empty. */
	struct tally_str unit; /* Unit of the scaled counts, such as "Joules"; empty if counts are numbers of events. */
	double scale; /* Factor that converts counts to the unit. */
	const uint64_t *ids;
	size_t id_count;
	uint32_t index; /* Index in the events of the recording. */
	uint32_t leader_index; /* Index of the leader of its group; its own index if it has no group. */
	uint32_t member_count; /* Size of the group that it leads, including itself; 0 or 1 if none. */
};

/* Returns whether samples of the event have one of these fields. */
static inline bool perfdata_event_has(const struct perfdata_event *event, uint64_t sample_type)
{
	return (event->attr.sample_type & sample_type) ||
	       (event->layout.is_wait &&
		       (sample_type & SAMPLE_CALLCHAIN)); /* The raw data of a wait contains its call chain. */
}

/* Returns whether the events contain a group. */
static inline bool perfdata_events_have_groups(const struct perfdata_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (events[i].member_count > 1)
			return true;
	return false;
}

#endif
