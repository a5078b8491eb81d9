/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_set.h - collects the events of a recording as they become known: attrs and IDs from the header or from
 * HEADER_ATTR records, names from EVENT_DESC, EVENT_UPDATE or the attr itself; and finds the event of an ID.
 *
 * Owned by the reader. One thread adds events; any thread may look up events while none is added.
 */
#ifndef PERFDATA_EVENT_SET_H
#define PERFDATA_EVENT_SET_H

#include "base/arena.h"
#include "base/map_u64.h"
#include "base/vec.h"
#include "perfdata/event.h"
#include "perfdata/features.h"

struct event_set {
	VEC(struct perfdata_event) events;
	struct map_u64 by_id; /* Maps IDs to indexes of events. */
	struct arena arena;
	/* A copy of by_id for IDs close to the first one, as most are: near[id - first_id] is the index + 1, or 0 if
	 * only by_id has the ID. */
	uint64_t first_id;
	VEC(uint32_t) near;
	/* Offset of the ID in samples and trailers, if it is the same for all events; otherwise event_set_of returns
	 * the first event. */
	int16_t sample_id_offset; /* From the start of the record; -1 if none. */
	uint16_t trailer_id_offset; /* From the end of the record; 0 if none. */
	uint64_t attr_excess_bytes; /* Number of bytes of attrs beyond the fields that are known here. */
};

void event_set_init(struct event_set *set);
void event_set_deinit(struct event_set *set);
/* Adds an attr, decoded and as stored, with its IDs, which are in the byte order of the file. */
TALLY_MUST_CHECK enum tally_status event_set_add(struct event_set *set, const struct perf_attr *attr,
	struct tally_bytes stored_attr, struct tally_bytes ids, bool swap, struct tally_error *err);
/* Applies names and IDs of EVENT_DESC, and groups of GROUP_DESC. Both features refer to events by their position. */
TALLY_MUST_CHECK enum tally_status event_set_apply_features(
	struct event_set *set, const struct perfdata_features *features, struct tally_error *err);
/* Sets the names of tracepoints that have none yet to those of their formats. */
TALLY_MUST_CHECK enum tally_status event_set_name_tracepoints(
	struct event_set *set, struct tally_bytes tracing_data, struct tally_error *err);
/* Applies an EVENT_UPDATE record: a name, unit or scale. An unknown event or another kind of update changes nothing. */
TALLY_MUST_CHECK enum tally_status event_set_update(
	struct event_set *set, const struct record_event_update *update, bool swap, struct tally_error *err);
/* Returns the event with this ID; NULL if none. */
const struct perfdata_event *event_set_by_id(const struct event_set *set, uint64_t id);
/* Returns the event of a sample or of a record with a trailer; the first event if the recording has only one, or
 * records have no ID at a common offset. NULL: no event has the ID. */
const struct perfdata_event *event_set_of(const struct event_set *set, const struct record *record);

#endif
