/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "base/protobuf_writer.h"
#include "view/export/export_formats.h"
#include "view/export/otlp_dictionary.h"
#include "view/export/otlp_resource.h"
#include "view/export/otlp_samples.h"

/* Field numbers of profiles.proto, resource.proto and common.proto. */
enum { DATA_RESOURCES = 1, DATA_DICTIONARY = 2 };
enum { RESOURCE_PROFILES_RESOURCE = 1, RESOURCE_PROFILES_SCOPES = 2 };
enum { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILES = 2 };
enum { SCOPE_NAME = 1, SCOPE_VERSION = 2 };
enum {
	EXPORT_OTLP_PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	EXPORT_OTLP_PROFILE_TIME = 3,
	EXPORT_OTLP_PROFILE_DURATION = 4,
	EXPORT_OTLP_PROFILE_PERIOD_TYPE = 5,
	EXPORT_OTLP_PROFILE_PERIOD = 6,
	PROFILE_ATTRIBUTES = 11
};
enum { EXPORT_OTLP_TYPE_TYPE = 1, EXPORT_OTLP_TYPE_UNIT = 2 };
enum { EXPORT_OTLP_SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES = 2, SAMPLE_VALUES = 4, SAMPLE_TIMES = 5 };

struct export_otlp {
	struct byte_sink *sink;
	const struct export_view *view;
	struct otlp_dictionary dictionary;
	struct otlp_samples samples;
	uint32_t comment; /* Attribute of each profile; 0: none. */
	struct text room;
};

static uint64_t export_otlp_signed(uint64_t value)
{
	return MIN(value, (uint64_t)INT64_MAX);
}

static void export_otlp_put_sample(
	struct export_otlp *w, struct text *out, const struct otlp_point *point, enum otlp_kind kind)
{
	struct list attributes = otlp_samples_attributes(&w->samples, point);
	struct text *room = &w->room;
	text_clear(room);
	otlp_put_number(room, EXPORT_OTLP_SAMPLE_STACK, point->stack);
	otlp_put_indexes(room, SAMPLE_ATTRIBUTES, attributes.items, attributes.count);
	if (kind == OTLP_COUNTS && w->samples.has_times) {
		protobuf_head(room, SAMPLE_TIMES, point->count * sizeof(uint64_t));
		text_bytes(room, (const char *)otlp_samples_times(&w->samples, point), point->count * sizeof(uint64_t));
	} else {
		size_t begin = protobuf_open(room);
		protobuf_varint(room, export_otlp_signed(kind == OTLP_COUNTS ? point->count : point->period));
		protobuf_close(room, SAMPLE_VALUES, begin);
	}
	protobuf_bytes(out, PROFILE_SAMPLES, room->data, room->len);
	w->sink->failed = w->sink->failed || room->failed;
}

static void export_otlp_put_type(
	struct export_otlp *w, struct text *out, unsigned field, struct tally_str type, const char *unit)
{
	size_t begin = protobuf_open(out);
	otlp_put_number(out, EXPORT_OTLP_TYPE_TYPE, otlp_string(&w->dictionary, type));
	otlp_put_number(out, EXPORT_OTLP_TYPE_UNIT, otlp_string(&w->dictionary, str_from(unit)));
	protobuf_close(out, field, begin);
}

/* The time range ends after the last sample. */
static void export_otlp_put_time(const struct export_otlp *w, struct text *out)
{
	const struct export_view *view = w->view;
	if (!view->has_times)
		return;
	if (view->about.has_wall_clock)
		protobuf_fixed64(
			out, EXPORT_OTLP_PROFILE_TIME, view->first_time + (uint64_t)view->about.wall_clock_offset_ns);
	protobuf_u64(out, EXPORT_OTLP_PROFILE_DURATION, view->last_time - view->first_time + 1);
}

/* Writes all of a profile except its samples. The time of waits has no period, because each wait is measured by
 * itself. */
static void export_otlp_put_about(
	struct export_otlp *w, struct text *out, const struct otlp_group *group, enum otlp_kind kind)
{
	const struct profile *p = w->view->profile;
	const struct profile_event *event = &p->events[group->event];
	struct tally_str event_name = profile_string(p, event->name);
	struct tally_str name = export_type_name(event_name, group->is_wait);
	const char *unit = export_event_unit(event_name);
	if (kind == OTLP_COUNTS)
		export_otlp_put_type(w, out, EXPORT_OTLP_PROFILE_SAMPLE_TYPE, STR("samples"), "count");
	else
		export_otlp_put_type(w, out, EXPORT_OTLP_PROFILE_SAMPLE_TYPE, name, unit);
	export_otlp_put_time(w, out);
	if (kind == OTLP_COUNTS || !group->is_wait) {
		uint64_t period = event->sample_count ? event->total_period / event->sample_count : 0;
		export_otlp_put_type(w, out, EXPORT_OTLP_PROFILE_PERIOD_TYPE, name, unit);
		protobuf_u64(out, EXPORT_OTLP_PROFILE_PERIOD, period ? export_otlp_signed(period) : 1);
	}
	const uint32_t attributes[] = {otlp_text_attribute(&w->dictionary, "tally.event", event_name), w->comment};
	otlp_put_indexes(out, PROFILE_ATTRIBUTES, attributes, w->comment ? 2 : 1);
}

static uint64_t export_otlp_field_bytes(unsigned field, uint64_t len)
{
	char room[2 * 10];
	struct text head = text_over(room, sizeof(room));
	protobuf_head(&head, field, len);
	return head.len + len;
}

/* Computes how long the profiles of the group will be. */
static void export_otlp_measure(struct export_otlp *w, struct otlp_group *group)
{
	struct text out = {0};
	for (enum otlp_kind kind = 0; kind < OTLP_KINDS; kind++) {
		text_clear(&out);
		export_otlp_put_about(w, &out, group, kind);
		group->bytes[kind] = out.len;
		for (size_t i = group->begin; i < group->end; i++) {
			text_clear(&out);
			export_otlp_put_sample(w, &out, &w->samples.points.items[i], kind);
			group->bytes[kind] += out.len;
		}
	}
	w->sink->failed = w->sink->failed || out.failed;
	text_deinit(&out);
}

static void export_otlp_write_group(struct export_otlp *w, const struct otlp_group *group)
{
	struct text *out = &w->sink->text;
	for (enum otlp_kind kind = 0; kind < OTLP_KINDS; kind++) {
		protobuf_head(out, SCOPE_PROFILES_PROFILES, group->bytes[kind]);
		export_otlp_put_about(w, out, group, kind);
		for (size_t i = group->begin; i < group->end && !byte_sink_is_lost(w->sink); i++) {
			export_otlp_put_sample(w, out, &w->samples.points.items[i], kind);
			byte_sink_step(w->sink);
		}
	}
}

/* Returns the number of groups from first on that belong to one process; *bytes is the length of their profiles. */
static size_t export_otlp_count_groups(struct export_otlp *w, size_t first, uint64_t *bytes)
{
	size_t at = first;
	*bytes = 0;
	for (; at < w->samples.groups.len; at++) {
		struct otlp_group *group = &w->samples.groups.items[at];
		if (group->process != w->samples.groups.items[first].process)
			break;
		export_otlp_measure(w, group);
		for (enum otlp_kind kind = 0; kind < OTLP_KINDS; kind++)
			*bytes += export_otlp_field_bytes(SCOPE_PROFILES_PROFILES, group->bytes[kind]);
	}
	return at - first;
}

static void export_otlp_put_scope(const struct export_otlp *w, struct text *out)
{
	size_t begin = protobuf_open(out);
	protobuf_string(out, SCOPE_NAME, STR("tally"));
	protobuf_string(out, SCOPE_VERSION, w->view->about.version);
	protobuf_close(out, SCOPE_PROFILES_SCOPE, begin);
}

static void export_otlp_put_resource(const struct export_otlp *w, struct text *out, uint32_t id)
{
	const struct profile *p = w->view->profile;
	const struct otlp_process *process = &w->samples.processes.items[id];
	size_t begin = protobuf_open(out);
	otlp_resource_put(out, w->view,
		&(struct otlp_resource){
			.pid = process->pid,
			.label_set = process->label_set,
			.name = profile_string(p, process->name),
			.cgroup = process->cgroup == PROFILE_NONE ? STR("") : profile_string(p, process->cgroup),
		});
	protobuf_close(out, RESOURCE_PROFILES_RESOURCE, begin);
}

/* Writes the profiles of one process. Lengths precede contents, so both are encoded twice: to measure, and to
 * write. */
static void export_otlp_write_process(struct export_otlp *w, size_t first, size_t *count)
{
	struct text *out = &w->sink->text, resource = {0}, scope = {0};
	uint64_t bytes;
	*count = export_otlp_count_groups(w, first, &bytes);
	export_otlp_put_resource(w, &resource, w->samples.groups.items[first].process);
	export_otlp_put_scope(w, &scope);
	bytes += scope.len;
	protobuf_head(out, DATA_RESOURCES, resource.len + export_otlp_field_bytes(RESOURCE_PROFILES_SCOPES, bytes));
	text_bytes(out, resource.data, resource.len);
	protobuf_head(out, RESOURCE_PROFILES_SCOPES, bytes);
	text_bytes(out, scope.data, scope.len);
	w->sink->failed = w->sink->failed || resource.failed || scope.failed;
	text_deinit(&resource);
	text_deinit(&scope);
	for (size_t i = first; i < first + *count && !byte_sink_is_lost(w->sink); i++)
		export_otlp_write_group(w, &w->samples.groups.items[i]);
}

/* Adds a comment for human readers, with the same content as the comments in pprof profiles. */
static void export_otlp_add_comment(struct export_otlp *w)
{
	const struct export_about *about = &w->view->about;
	const struct {
		const char *name;
		struct tally_str value;
	} lines[] = {{"recording", about->title}, {"command", about->command}, {"cpu", about->cpu},
		{"quality", about->quality}, {"origin", about->origin.sentence}};
	struct text texts[ARRAY_LEN(lines)] = {0};
	struct tally_str values[ARRAY_LEN(lines)];
	size_t count = 0;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		if (lines[i].value.len == 0)
			continue;
		text_printf(&texts[i], "%s: ", lines[i].name);
		text_bytes(&texts[i], lines[i].value.data, lines[i].value.len);
		w->sink->failed = w->sink->failed || texts[i].failed;
		values[count++] = text_view(&texts[i]);
	}
	if (count > 0)
		w->comment = otlp_list_attribute(&w->dictionary, "pprof.profile.comment", values, count);
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		text_deinit(&texts[i]);
}

void export_otlp(struct byte_sink *sink, const struct export_view *view)
{
	struct export_otlp w = {.sink = sink, .view = view};
	otlp_dictionary_init(&w.dictionary, view->profile);
	bool is_ready = otlp_samples_init(&w.samples, view, &w.dictionary);
	if (is_ready && w.samples.groups.len > 0)
		export_otlp_add_comment(&w);
	for (size_t i = 0, count; is_ready && i < w.samples.groups.len && !byte_sink_is_lost(sink); i += count)
		export_otlp_write_process(&w, i, &count);
	if (is_ready)
		otlp_dictionary_write(&w.dictionary, sink, DATA_DICTIONARY);
	sink->failed = sink->failed || !is_ready || w.dictionary.failed;
	otlp_samples_deinit(&w.samples);
	otlp_dictionary_deinit(&w.dictionary);
	text_deinit(&w.room);
}
