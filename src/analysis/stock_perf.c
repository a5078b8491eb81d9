/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stock_perf.h"

#include <stdio.h>

#define ATTR_BYTES_MOST 128u /* Size of the attr in perf 6.1, which rejects a file with a larger one. */
/* perf 6.1 knows the kernel's record types below this value, and its own below the next one. */
#define KERNEL_TYPES_KNOWN 22u
#define USER_TYPES_KNOWN   83u

static unsigned declared_bytes(const struct perf_attr *attr)
{
	return attr->declared_size ? attr->declared_size : attr->size;
}

static const char *refuse_header(const struct perfdata_reader *reader, char *room, size_t room_bytes)
{
	const struct perfdata_features *features = perfdata_reader_features(reader);
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++) {
		if (declared_bytes(&events[i].attr) <= ATTR_BYTES_MOST)
			continue;
		snprintf(room, room_bytes, "its event attributes have %u bytes, of which it knows %u",
			declared_bytes(&events[i].attr), ATTR_BYTES_MOST);
		return room;
	}
	if (perfdata_reader_has_tracepoints(reader) && (!feature_is_present(features, FEATURE_TRACING_DATA) ||
							       feature_is_damaged(features, FEATURE_TRACING_DATA)))
		return "it has tracepoints, but not their formats (TRACING_DATA)";
	if (perfdata_reader_stated_data_size(reader) == 0)
		return "its header says that it has no data: its writer was killed, or recorded nothing";
	return NULL;
}

static const char *refuse_type(const struct recording_health *health, char *room, size_t room_bytes)
{
	uint32_t least = UINT32_MAX;
	for (uint32_t type = 0; type < HEALTH_KNOWN_TYPES && least == UINT32_MAX; type++) {
		bool is_known = type >= RECORD_HEADER_ATTR ? type < USER_TYPES_KNOWN : type < KERNEL_TYPES_KNOWN;
		if (health->by_type[type] && (!is_known || type == 0))
			least = type;
	}
	if (least == UINT32_MAX && health->other_types > 0)
		least = health->least_unknown_type;
	if (least == UINT32_MAX)
		return NULL;
	const char *name = record_type_name(least);
	snprintf(room, room_bytes, "it stops at a record of type %u (%s)", (unsigned)least, name ? name : "unknown");
	return room;
}

/* A stream may end anywhere, a file only after its data. */
static const char *refuse_end(const struct perfdata_reader *reader, const struct recording_health *health)
{
	const struct input_health *input = &health->input;
	if (!input->is_cut)
		return NULL;
	if (input->cut_record_bytes < RECORD_HEADER_BYTES)
		return "it stops at a record that is shorter than a record's header";
	if (perfdata_reader_is_pipe(reader))
		return NULL;
	uint64_t left = perfdata_reader_bytes(reader) - input->cut_offset;
	if (input->cut_record_bytes == UINT32_MAX || input->cut_record_bytes > left)
		return "it stops where the recording is cut";
	return NULL;
}

const char *stock_perf_refusal(
	const struct perfdata_reader *reader, const struct recording_health *health, char *room, size_t room_bytes)
{
	const char *why = perfdata_reader_is_pipe(reader) ? NULL : refuse_header(reader, room, room_bytes);
	if (!why)
		why = refuse_type(health, room, room_bytes);
	return why ? why : refuse_end(reader, health);
}
