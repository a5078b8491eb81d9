/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/event_attrs.h"

#include "perfdata/feature_encode.h"

bool event_attrs_make(struct event_attrs *attrs, struct arena *arena, const struct perfdata_reader *reader,
	const struct attr_change *change)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	*attrs = (struct event_attrs){.arena = arena,
		.reader = reader,
		.change = *change,
		.attrs = arena_array(arena, struct tally_bytes, count),
		.layouts = arena_array(arena, struct record_layout, count)};
	bool is_made = attrs->attrs && attrs->layouts;
	for (size_t i = 0; i < count && is_made; i++) {
		struct writer w = {.swap = perfdata_reader_is_swapped(reader)};
		struct perf_attr changed = change->make(change->context, &events[i].attr);
		attr_encode(&w, &changed);
		attrs->attrs[i] = (struct tally_bytes){arena_copy(arena, w.data, w.len), w.len};
		attrs->layouts[i] = record_layout_make(&changed, w.swap);
		is_made = !w.failed && attrs->attrs[i].data;
		writer_deinit(&w);
	}
	return is_made;
}

bool event_attrs_features(const struct event_attrs *attrs, struct perfdata_features *features)
{
	size_t count = features->event_count;
	if (count == 0)
		return true;
	struct perfdata_event_desc *events = arena_array(attrs->arena, struct perfdata_event_desc, count);
	struct perf_attr *made = arena_array(attrs->arena, struct perf_attr, count);
	if (!events || !made)
		return false;
	for (size_t i = 0; i < count; i++) {
		events[i] = features->events[i];
		if (!events[i].attr)
			continue;
		made[i] = attrs->change.make(attrs->change.context, events[i].attr);
		events[i].attr = &made[i];
	}
	features->events = events;
	struct writer w = {.swap = perfdata_reader_is_swapped(attrs->reader)};
	feature_encode(&w, FEATURE_EVENT_DESC, features);
	features->raw[FEATURE_EVENT_DESC] = (struct tally_bytes){arena_copy(attrs->arena, w.data, w.len), w.len};
	bool is_made = !w.failed && features->raw[FEATURE_EVENT_DESC].data;
	writer_deinit(&w);
	return is_made;
}
