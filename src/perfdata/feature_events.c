/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feature_events.c - reads the sections about the recorded data: events and groups, build IDs, positions of AUX data.
 */
#include "perfdata/feature_read.h"

enum feature_result feature_read_build_ids(struct cursor *c, const struct feature_input *in)
{
	size_t cap = in->section.len / 36 + 1;
	struct perfdata_build_id *ids = arena_array(in->arena, struct perfdata_build_id, cap);
	if (!ids)
		return FEATURE_NO_MEMORY;
	size_t count = 0;
	size_t position = 0;
	enum feature_result result = FEATURE_GOOD;
	while (position < in->section.len && count < cap) {
		struct record record;
		struct record_fields fields;
		struct tally_bytes section = in->section;
		if (record_at(section, in->swap, position, &record, NULL) != TALLY_OK) {
			result = FEATURE_DAMAGED;
			break;
		}
		/* The type is 0 or any other value here; the section determines it. */
		record.type = RECORD_HEADER_BUILD_ID;
		if (record_decode(&record, &fields, NULL) != TALLY_OK) {
			result = FEATURE_DAMAGED;
			break;
		}
		struct perfdata_build_id *id = &ids[count++];
		*id = (struct perfdata_build_id){
			.pid = fields.build_id.pid,
			.misc = record.misc,
			.size = fields.build_id.size,
			.filename = fields.build_id.filename,
		};
		memcpy(id->bytes, fields.build_id.bytes, sizeof(id->bytes));
		position += record.bytes.len;
	}
	in->features->build_ids = ids;
	in->features->build_id_count = count;
	return result;
}

static enum feature_result read_event(
	struct cursor *c, const struct feature_input *in, uint32_t attr_size, struct perfdata_event_desc *event)
{
	struct perf_attr *attr = arena_new(in->arena, struct perf_attr);
	if (!attr)
		return FEATURE_NO_MEMORY;
	if (attr_decode_sized(c, attr_size, attr, NULL) != TALLY_OK)
		return FEATURE_DAMAGED;
	uint32_t id_count = cursor_u32(c);
	event->name = feature_read_string(c);
	if (!cursor_count(c, id_count, 8))
		return FEATURE_DAMAGED;
	uint64_t *ids = arena_array(in->arena, uint64_t, id_count);
	if (!ids)
		return FEATURE_NO_MEMORY;
	for (uint32_t i = 0; i < id_count; i++)
		ids[i] = cursor_u64(c);
	event->attr = attr;
	event->ids = ids;
	event->id_count = id_count;
	return FEATURE_GOOD;
}

enum feature_result feature_read_event_desc(struct cursor *c, const struct feature_input *in)
{
	uint32_t count = cursor_u32(c);
	uint32_t attr_size = cursor_u32(c);
	if (attr_size < ATTR_SIZE_VER0 || !cursor_count(c, count, (size_t)attr_size + 8))
		return FEATURE_DAMAGED;
	struct perfdata_event_desc *events = arena_array(in->arena, struct perfdata_event_desc, count);
	if (!events)
		return FEATURE_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		enum feature_result result = read_event(c, in, attr_size, &events[i]);
		if (result != FEATURE_GOOD)
			return result;
	}
	in->features->events = events;
	in->features->event_count = count;
	return feature_read_end(c);
}

enum feature_result feature_read_groups(struct cursor *c, const struct feature_input *in)
{
	uint32_t count = cursor_u32(c);
	if (!cursor_count(c, count, 12))
		return FEATURE_DAMAGED;
	struct perfdata_group *groups = arena_array(in->arena, struct perfdata_group, count);
	if (!groups)
		return FEATURE_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		groups[i].name = feature_read_string(c);
		groups[i].leader_index = cursor_u32(c);
		groups[i].member_count = cursor_u32(c);
	}
	if (c->failed)
		return FEATURE_DAMAGED;
	in->features->groups = groups;
	in->features->group_count = count;
	return FEATURE_GOOD;
}

#define AUXTRACE_ENTRY_BYTES 16

/* perf writes the number of entries first; simpleperf does not. */
enum feature_result feature_read_auxtrace(struct cursor *c, const struct feature_input *in)
{
	uint64_t count = cursor_left(c) / AUXTRACE_ENTRY_BYTES;
	bool is_bare = cursor_left(c) % AUXTRACE_ENTRY_BYTES == 0;
	if (!is_bare)
		count = cursor_u64(c);
	if (!cursor_count(c, count, AUXTRACE_ENTRY_BYTES))
		return FEATURE_DAMAGED;
	struct perfdata_auxtrace_entry *entries = arena_array(in->arena, struct perfdata_auxtrace_entry, count);
	if (!entries)
		return FEATURE_NO_MEMORY;
	for (uint64_t i = 0; i < count; i++) {
		entries[i].offset = cursor_u64(c);
		entries[i].size = cursor_u64(c);
	}
	if (c->failed)
		return FEATURE_DAMAGED;
	in->features->auxtrace = entries;
	in->features->auxtrace_count = count;
	in->features->auxtrace_is_bare = is_bare;
	return FEATURE_GOOD;
}
