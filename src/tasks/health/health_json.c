/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "perfdata/feature_table.h"
#include "perfdata/origin.h"
#include "tasks/header/header_text.h"
#include "tasks/health/health_report.h"

static void health_json_put_file(struct json *j, const struct health_source *source)
{
	const struct perfdata_reader *reader = source->reader;
	json_object(j, "file");
	json_string(j, "mode", perfdata_reader_is_pipe(reader) ? STR("pipe") : STR("file"));
	json_bool(j, "is_first_format", perfdata_reader_layout(reader).is_v1);
	json_bool(j, "is_foreign_byte_order", perfdata_reader_is_swapped(reader));
	json_u64(j, "bytes", perfdata_reader_bytes(reader));
	json_object_end(j);
}

static void health_json_put_end(struct json *j, const struct recording_health *health)
{
	bool is_whole = health->end.status == TALLY_OK;
	bool is_complete = is_whole && !recording_health_is_unfinished(health);
	json_object(j, "end");
	json_bool(j, "is_complete", is_complete);
	if (is_whole && !is_complete) {
		json_bool(j, "is_unfinished", health->input.is_unfinished);
		json_u64(j, "missing_files", health->input.missing_parts);
	}
	if (!is_whole) {
		json_u64(j, "offset", health->input.is_cut ? health->input.cut_offset : health->end.offset);
		json_string(j, "reason", str_from(health->end.text));
	}
	json_object_end(j);
}

static void health_json_put_clock(struct json *j, const struct health_source *source)
{
	const struct perfdata_features *features = perfdata_reader_features(source->reader);
	const struct recording_health *health = source->health;
	bool has_wall =
		feature_is_present(features, FEATURE_CLOCK_DATA) && !feature_is_damaged(features, FEATURE_CLOCK_DATA);
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(source->reader, &count);
	json_object(j, "clock");
	json_bool(j, "has_times", health->has_times);
	if (health->has_times) {
		json_u64(j, "first_ns", health->first_ns);
		json_u64(j, "last_ns", health->last_ns);
	}
	if (count > 0 && ATTR_HAS(&events[0].attr, USE_CLOCKID)) {
		json_i64(j, "clockid", events[0].attr.clockid);
		json_string(j, "name", str_from(header_clock_name((uint32_t)events[0].attr.clockid)));
	}
	json_bool(j, "is_wall_clock_known", has_wall);
	if (has_wall) {
		json_u64(j, "wall_clock_ns", features->wall_clock_ns);
		json_u64(j, "wall_clock_at_ns", features->clockid_time_ns);
	}
	json_object_end(j);
}

static void put_lost(struct json *j, const struct recording_health *health)
{
	json_object(j, "lost");
	json_u64(j, "events", health->input.lost_events);
	json_u64(j, "samples", health->input.lost_samples);
	json_u64(j, "filtered", health->input.filtered_samples);
	json_u64(j, "without_time", health->lost_without_time);
	json_u64(j, "without_event", health->lost_without_event);
	json_array(j, "by_time");
	for (size_t i = 0; i < HEALTH_SLICES; i++)
		json_u64(j, NULL, health->lost_by_slice[i]);
	json_array_end(j);
	json_object_end(j);
}

static void health_json_put_damage(struct json *j, const struct health_source *source)
{
	const struct input_health *input = &source->health->input;
	const struct perfdata_features *features = perfdata_reader_features(source->reader);
	json_u64(j, "damaged_records", input->damaged.count);
	json_u64(j, "damaged_features", input->damaged_features);
	json_u64(j, "unordered_records", input->unordered);
	json_u64(j, "unattributed_samples", input->unattributed_samples);
	json_u64(j, "unknown_records", input->unknown_records);
	json_array(j, "unknown_features");
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++)
		if (feature_is_present(features, bit) && !feature_name(bit))
			json_u64(j, NULL, bit);
	json_array_end(j);
	json_u64(j, "attr_excess_bytes", input->attr_excess_bytes);
	json_u64(j, "truncated_aux_records", source->health->aux_truncated);
	json_u64(j, "undecoded_trace_bytes", input->trace_bytes);
	json_u64(j, "throttled_to_the_end", source->health->throttled_to_the_end);
}

static void health_json_put_stacks(struct json *j, const struct stack_ends *ends)
{
	static const char *const names[UNWIND_ENDS] = {[UNWIND_ROOT] = "complete",
		[UNWIND_STACK_SHORT] = "too_short",
		[UNWIND_NO_CFI] = "no_frame_information",
		[UNWIND_BROKEN] = "broken",
		[UNWIND_LIMIT] = "limit",
		[UNWIND_NO_REGISTERS] = "no_registers"};
	if (!ends)
		return;
	json_object(j, "stacks");
	json_u64(j, "total", stack_ends_unwound(ends));
	for (unsigned i = 0; i < UNWIND_ENDS; i++)
		json_u64(j, names[i], ends->ends[i]);
	json_u64(j, "bridged", ends->bridged);
	json_object_end(j);
}

static void health_json_put_chains(struct json *j, const struct chain_survey *chains)
{
	if (!chains)
		return;
	json_object(j, "call_chains");
	json_u64(j, "looked_at", chains->chains);
	json_u64(j, "broken", chains->broken);
	json_object_end(j);
}

static void health_json_put_events(struct json *j, const struct health_source *source)
{
	static const struct health_event none;
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(source->reader, &count);
	json_array(j, "events");
	for (size_t i = 0; i < count; i++) {
		const struct health_event *event =
			i < source->health->events.len ? &source->health->events.items[i] : &none;
		json_object(j, NULL);
		json_string(j, "name", events[i].name);
		json_u64(j, "samples", event->samples);
		json_u64(j, "lost", event->lost);
		json_u64(j, "throttles", event->throttles);
		json_u64(j, "throttled_ns", event->throttled_ns);
		if (event->enabled_ns > 0) {
			json_u64(j, "enabled_ns", event->enabled_ns);
			json_u64(j, "running_ns", event->running_ns);
		}
		json_u64(j, "full_chains", event->full_chains);
		json_u64(j, "full_stacks", event->full_stacks);
		json_object_end(j);
	}
	json_array_end(j);
}

static void health_json_put_types(struct json *j, const struct recording_health *health)
{
	json_object(j, "records");
	json_u64(j, "total", health->input.records);
	json_u64(j, "samples", health->input.samples);
	json_array(j, "by_type");
	for (uint32_t type = 0; type < HEALTH_KNOWN_TYPES; type++) {
		const char *name = record_type_name(type);
		if (health->by_type[type] == 0)
			continue;
		json_object(j, NULL);
		json_u64(j, "type", type);
		if (name)
			json_string(j, "name", str_from(name));
		json_u64(j, "count", health->by_type[type]);
		json_object_end(j);
	}
	json_array_end(j);
	json_u64(j, "of_other_types", health->other_types);
	json_object_end(j);
}

static void put_perf(struct json *j, const char *refusal)
{
	json_object(j, "perf_6_1");
	json_bool(j, "reads", !refusal);
	if (refusal)
		json_string(j, "reason", str_from(refusal));
	json_object_end(j);
}

void health_json(struct text *out, const struct health_source *source)
{
	struct json j = {.out = out};
	json_object(&j, NULL);
	json_u64(&j, "schema", HEALTH_SCHEMA);
	json_string(&j, "path", str_from(source->path));
	json_string(&j, "verdict", str_from(health_word(source)));
	if (source->reader) {
		health_json_put_file(&j, source);
		origin_json(&j, perfdata_reader_features(source->reader));
		health_json_put_end(&j, source->health);
		health_json_put_clock(&j, source);
		put_lost(&j, source->health);
		health_json_put_damage(&j, source);
		health_json_put_stacks(&j, source->ends);
		health_json_put_chains(&j, source->chains);
		health_json_put_events(&j, source);
		health_json_put_types(&j, source->health);
		put_perf(&j, source->refusal);
	} else {
		json_string(&j, "reason", str_from(source->unusable->text));
		put_perf(&j, "its header is unusable");
	}
	json_object_end(&j);
	text_char(out, '\n');
}
