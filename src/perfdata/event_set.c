/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/event_set.h"

#include "abi/event_name.h"
#include "abi/wait_record.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/visible.h"
#include "perfdata/tracing_formats.h"

void event_set_init(struct event_set *set)
{
	*set = (struct event_set){.sample_id_offset = -1};
	arena_init(&set->arena);
}

void event_set_deinit(struct event_set *set)
{
	vec_free(&set->events);
	map_u64_deinit(&set->by_id);
	vec_free(&set->near);
	arena_deinit(&set->arena);
}

static void note_id_positions(struct event_set *set, const struct record_layout *layout, bool is_first)
{
	int16_t in_sample = layout->identifier >= 0 ? layout->identifier : layout->id;
	uint16_t in_trailer = layout->trailer_identifier ? layout->trailer_identifier : layout->trailer_id;
	if (is_first) {
		set->sample_id_offset = in_sample;
		set->trailer_id_offset = in_trailer;
		return;
	}
	if (set->sample_id_offset != in_sample)
		set->sample_id_offset = -1;
	if (set->trailer_id_offset != in_trailer)
		set->trailer_id_offset = 0;
}

#define NEAR_IDS 4096

static bool note_near(struct event_set *set, uint64_t id, uint32_t index)
{
	if (set->near.len == 0)
		set->first_id = id;
	uint64_t place = id - set->first_id;
	if (place >= NEAR_IDS)
		return true;
	while (set->near.len <= place)
		if (!vec_push(&set->near, 0))
			return false;
	set->near.items[place] = index + 1;
	return true;
}

static bool event_set_is_wait(const struct perfdata_event *event)
{
	return event->attr.type == EVENT_SOFTWARE && event->attr.config == SW_BPF_OUTPUT &&
	       (event->attr.sample_type & SAMPLE_RAW) && str_equal(event->name, STR(WAIT_EVENT_NAME));
}

static enum tally_status event_set_ids(
	struct event_set *set, struct perfdata_event *event, const uint64_t *ids, size_t count, struct tally_error *err)
{
	if (set->by_id.len + count > LIMIT_IDS)
		return error_set(err, TALLY_LIMIT, "more than %u event ids", LIMIT_IDS);
	for (size_t i = 0; i < count; i++)
		if (!map_u64_set(&set->by_id, ids[i], event->index) || !note_near(set, ids[i], event->index))
			return error_nomem(err);
	event->ids = ids;
	event->id_count = count;
	return TALLY_OK;
}

enum tally_status event_set_add(struct event_set *set, const struct perf_attr *attr, struct tally_bytes stored_attr,
	struct tally_bytes ids, bool swap, struct tally_error *err)
{
	if (set->events.len >= LIMIT_EVENTS)
		return error_set(err, TALLY_LIMIT, "more than %u events", LIMIT_EVENTS);
	struct perfdata_event event = {
		.attr = *attr,
		.layout = record_layout_make(attr, swap),
		.index = (uint32_t)set->events.len,
		.leader_index = (uint32_t)set->events.len,
		.scale = 1.0,
	};
	struct text name = {0};
	event_name_of_attr(&name, attr);
	event.name.data = name.failed ? NULL : arena_string(&set->arena, name.data, name.len);
	event.name.len = name.len;
	text_deinit(&name);
	size_t count = ids.len / sizeof(uint64_t);
	uint64_t *copy = arena_array(&set->arena, uint64_t, count);
	event.stored_attr.data = arena_copy(&set->arena, stored_attr.data, stored_attr.len);
	event.stored_attr.len = stored_attr.len;
	if (!event.name.data || !copy || !event.stored_attr.data)
		return error_nomem(err);
	for (size_t i = 0; i < count; i++)
		copy[i] = sample_u64_at(ids.data, i, swap);
	enum tally_status status = event_set_ids(set, &event, copy, count, err);
	if (status != TALLY_OK)
		return status;
	if (!vec_push(&set->events, event))
		return error_nomem(err);
	set->attr_excess_bytes += attr->excess_bytes;
	note_id_positions(set, &event.layout, event.index == 0);
	return TALLY_OK;
}

enum tally_status event_set_apply_features(
	struct event_set *set, const struct perfdata_features *features, struct tally_error *err)
{
	for (size_t i = 0; i < features->event_count && i < set->events.len; i++) {
		struct perfdata_event *event = &set->events.items[i];
		const struct perfdata_event_desc *desc = &features->events[i];
		if (desc->attr->type != event->attr.type || desc->attr->config != event->attr.config)
			continue; /* The order differs, so the names would be wrong. */
		if (desc->name.len > 0)
			event->name = visible_str(&set->arena, desc->name);
		if (!event->name.data)
			return error_nomem(err);
		event->layout.is_wait = event_set_is_wait(event);
		if (event->id_count == 0 && desc->id_count > 0) {
			enum tally_status status = event_set_ids(set, event, desc->ids, desc->id_count, err);
			if (status != TALLY_OK)
				return status;
		}
	}
	for (size_t i = 0; i < features->group_count; i++) {
		const struct perfdata_group *group = &features->groups[i];
		if (group->leader_index >= set->events.len ||
			group->member_count > set->events.len - group->leader_index)
			continue;
		for (uint32_t m = 0; m < group->member_count; m++)
			set->events.items[group->leader_index + m].leader_index = group->leader_index;
		set->events.items[group->leader_index].member_count = group->member_count;
	}
	return event_set_name_tracepoints(set, features->tracing_data, err);
}

static bool is_nameless_tracepoint(const struct perfdata_event *event)
{
	return event->attr.type == EVENT_TRACEPOINT && str_equal(event->name, STR(EVENT_NAME_UNKNOWN_TRACEPOINT));
}

struct tracepoint_name {
	struct tally_str system, name;
};

struct tracepoint_names {
	VEC(struct tracepoint_name) items;
	struct map_u64 by_id; /* Maps the ID of a tracepoint to its index. */
};

/* False if memory allocation fails. */
static bool list_tracepoints(struct tally_bytes tracing_data, struct tracepoint_names *names)
{
	struct tracing_formats formats;
	struct tally_bytes format;
	uint64_t id;
	if (!tracing_formats_open(&formats, tracing_data))
		return true;
	while (tracing_formats_next(&formats, &format)) {
		struct tracepoint_name name = {.system = formats.system};
		if (tracing_format_identify(format, &id, &name.name) &&
			(!map_u64_set(&names->by_id, id, names->items.len) || !vec_push(&names->items, name)))
			return false;
	}
	return true;
}

static bool name_tracepoint(struct event_set *set, struct perfdata_event *event, const struct tracepoint_names *names)
{
	uint64_t index;
	if (!map_u64_find(&names->by_id, event->attr.config, &index))
		return true;
	const struct tracepoint_name *found = &names->items.items[index];
	struct text text = {0};
	text_visible(&text, found->system);
	text_char(&text, ':');
	text_visible(&text, found->name);
	char *copy = text.failed ? NULL : arena_string(&set->arena, text.data, text.len);
	if (copy)
		event->name = (struct tally_str){copy, text.len};
	text_deinit(&text);
	return copy;
}

enum tally_status event_set_name_tracepoints(
	struct event_set *set, struct tally_bytes tracing_data, struct tally_error *err)
{
	struct tracepoint_names names = {0};
	size_t nameless = 0;
	for (size_t i = 0; i < set->events.len; i++)
		nameless += is_nameless_tracepoint(&set->events.items[i]);
	bool is_done = nameless == 0 || list_tracepoints(tracing_data, &names);
	for (size_t i = 0; i < set->events.len && nameless > 0 && is_done; i++)
		if (is_nameless_tracepoint(&set->events.items[i]))
			is_done = name_tracepoint(set, &set->events.items[i], &names);
	vec_free(&names.items);
	map_u64_deinit(&names.by_id);
	return is_done ? TALLY_OK : error_nomem(err);
}

static enum tally_status event_set_text(
	struct event_set *set, struct tally_str *to, struct tally_bytes payload, struct tally_error *err)
{
	size_t len = payload.len ? strnlen((const char *)payload.data, payload.len) : 0;
	if (len == 0)
		return TALLY_OK;
	char *copy = arena_string(&set->arena, (const char *)payload.data, len);
	struct tally_str visible = visible_str(&set->arena, (struct tally_str){copy, copy ? len : 0});
	if (!visible.data)
		return error_nomem(err);
	*to = visible;
	return TALLY_OK;
}

enum tally_status event_set_update(
	struct event_set *set, const struct record_event_update *update, bool swap, struct tally_error *err)
{
	uint64_t index;
	if (!map_u64_find(&set->by_id, update->id, &index))
		return TALLY_OK;
	struct perfdata_event *event = &set->events.items[index];
	switch (update->update_type) {
	case EVENT_UPDATE_NAME: {
		enum tally_status status = event_set_text(set, &event->name, update->payload, err);
		event->layout.is_wait = event_set_is_wait(event);
		return status;
	}
	case EVENT_UPDATE_UNIT:
		return event_set_text(set, &event->unit, update->payload, err);
	case EVENT_UPDATE_SCALE:
		if (update->payload.len >= sizeof(uint64_t)) {
			uint64_t bits = sample_u64_at(update->payload.data, 0, swap);
			memcpy(&event->scale, &bits, sizeof(bits));
		}
		return TALLY_OK;
	default:
		return TALLY_OK;
	}
}

const struct perfdata_event *event_set_by_id(const struct event_set *set, uint64_t id)
{
	uint64_t place = id - set->first_id, index;
	if (place < set->near.len && set->near.items[place])
		return &set->events.items[set->near.items[place] - 1];
	return map_u64_find(&set->by_id, id, &index) ? &set->events.items[index] : NULL;
}

const struct perfdata_event *event_set_of(const struct event_set *set, const struct record *record)
{
	if (set->events.len == 0)
		return NULL;
	const struct perfdata_event *first = &set->events.items[0];
	if (set->events.len == 1)
		return first;
	size_t len = record->bytes.len;
	const uint8_t *id;
	if (record->type == RECORD_SAMPLE) {
		if (set->sample_id_offset < 0)
			return first; /* The events cannot be distinguished. */
		if ((size_t)set->sample_id_offset + sizeof(uint64_t) > len)
			return NULL;
		id = record->bytes.data + set->sample_id_offset;
	} else {
		if (set->trailer_id_offset == 0)
			return first;
		if ((size_t)set->trailer_id_offset + RECORD_HEADER_BYTES > len)
			return NULL;
		id = record->bytes.data + len - set->trailer_id_offset;
	}
	uint64_t value = sample_u64_at(id, 0, record->swap);
	const struct perfdata_event *event = event_set_by_id(set, value);
	/* Side-band records synthesized by the recorder have ID 0 and belong to no particular event. */
	if (!event && record->type != RECORD_SAMPLE && value == 0)
		return first;
	return event;
}
