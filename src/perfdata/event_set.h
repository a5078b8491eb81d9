/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_set.h - collects the events of a recording as they become known: attrs and IDs from the header or from
 * HEADER_ATTR records, names from EVENT_DESC, EVENT_UPDATE or the attr itself; and finds the event of an ID.
 *
 * Owned by the reader. One thread adds; look-ups only read.
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
	struct map_u64 by_id; /* id -> index */
	struct arena arena;
	/* A copy of by_id for ids close to the first one, as most are: index + 1 by id - first_id; 0: look in by_id. */
	uint64_t first_id;
	VEC(uint32_t) near;
	/* The place of an id in samples and trailers, if it is the same for all events; otherwise events cannot be
	 * told apart. */
	int16_t sample_id_offset; /* from the start; -1 none */
	uint16_t trailer_id_offset; /* from the end; 0 none */
	uint64_t attr_excess_bytes;
};

void event_set_init(struct event_set *set);
void event_set_deinit(struct event_set *set);
/* Adds an attr, decoded and as stored, with its ids (in the file's byte order). */
TALLY_MUST_CHECK enum tally_status event_set_add(struct event_set *set, const struct perf_attr *attr,
	struct tally_bytes stored_attr, struct tally_bytes ids, bool swap, struct tally_error *err);
/* Takes names and ids from EVENT_DESC and groups from GROUP_DESC, if they match by position. */
TALLY_MUST_CHECK enum tally_status event_set_apply_features(
	struct event_set *set, const struct perfdata_features *features, struct tally_error *err);
/* Names tracepoints that have no name yet by their formats. */
TALLY_MUST_CHECK enum tally_status event_set_name_tracepoints(
	struct event_set *set, struct tally_bytes tracing_data, struct tally_error *err);
/* Applies an EVENT_UPDATE record: a name, unit or scale. An unknown event or another kind of update changes nothing. */
TALLY_MUST_CHECK enum tally_status event_set_update(
	struct event_set *set, const struct record_event_update *update, bool swap, struct tally_error *err);
const struct perfdata_event *event_set_by_id(const struct event_set *set, uint64_t id);
const struct perfdata_event *event_set_of(const struct event_set *set, const struct record *record);

#endif
