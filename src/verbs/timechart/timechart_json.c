/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/timechart/timechart_json.h"

#include "base/json.h"

#define TIMECHART_JSON_SCHEMA 1

/* The sums are exact even if spans were merged to save memory. */
static void timechart_json_sums(struct json *j, const struct track *track)
{
	static const char *const names[SPAN_KINDS] = {[SPAN_RUNNING] = "running",
		[SPAN_WAITING] = "waiting",
		[SPAN_BLOCKED] = "blocked",
		[SPAN_IDLE] = "idle",
		[SPAN_READ] = "read",
		[SPAN_WRITE] = "write",
		[SPAN_RECEIVE] = "receive",
		[SPAN_SEND] = "send",
		[SPAN_SYNC] = "sync",
		[SPAN_POLL] = "poll",
		[SPAN_LOCK] = "lock",
		[SPAN_DATA] = "data",
		[SPAN_SLEEP] = "sleep"};
	json_array(j, "sums");
	for (size_t kind = 0; kind < SPAN_KINDS; kind++) {
		const struct track_sum *sum = &track->sums[kind];
		if (sum->count == 0)
			continue;
		json_object(j, NULL);
		json_string(j, "state", str_from(names[kind]));
		json_u64(j, "count", sum->count);
		json_u64(j, "ns", sum->ns);
		if (sum->bytes > 0)
			json_u64(j, "bytes", sum->bytes);
		json_object_end(j);
	}
	json_array_end(j);
}

static void timechart_json_rows(struct json *j, const struct timechart_picture *picture, enum track_kind kind)
{
	const struct tracks *tracks = picture->tracks;
	json_array(j, kind == TRACK_CPU ? "cpus" : "tasks");
	for (size_t i = 0; i < picture->row_count; i++) {
		const struct track *track = &tracks->tracks.items[picture->rows[i]];
		if (track->kind != kind)
			continue;
		json_object(j, NULL);
		if (kind == TRACK_CPU) {
			json_i64(j, "cpu", track->id);
		} else {
			if (track->names.len > 0)
				json_string(j, "comm",
					intern_get(&tracks->strings, track->names.items[track->names.len - 1].name));
			json_i64(j, "tid", track->id);
			json_i64(j, "pid", track->pid);
		}
		timechart_json_sums(j, track);
		if (kind == TRACK_TASK && picture->tells_unknown)
			json_u64(j, "unknown_ns", timechart_unknown_ns(track));
		json_object_end(j);
	}
	json_array_end(j);
}

void timechart_json(struct text *out, const struct timechart_picture *picture)
{
	struct json j = {.out = out};
	json_object(&j, NULL);
	json_u64(&j, "schema", TIMECHART_JSON_SCHEMA);
	json_string(&j, "path", picture->title);
	json_u64(&j, "start_ns", picture->tracks->start_ns);
	json_u64(&j, "end_ns", picture->tracks->end_ns);
	timechart_json_rows(&j, picture, TRACK_CPU);
	timechart_json_rows(&j, picture, TRACK_TASK);
	json_u64(&j, "lost_events", picture->lost);
	json_object_end(&j);
}
