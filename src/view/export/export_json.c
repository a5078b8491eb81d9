/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "view/export/export_formats.h"

#define SCHEMA_VERSION 1

struct export_writer {
	struct byte_sink *sink;
	const struct export_view *view;
	const struct export_tables *tables;
	struct json json;
	struct text room;
};

static void export_json_add_about(struct export_writer *w)
{
	const struct export_about *about = &w->view->about;
	struct json *j = &w->json;
	json_object(j, "about");
	json_string(j, "program", about->program);
	json_string(j, "version", about->version);
	json_string(j, "recording", about->title);
	json_string(j, "hostname", about->hostname);
	json_string(j, "os", about->os);
	json_string(j, "arch", about->arch);
	json_string(j, "cpu", about->cpu);
	json_u64(j, "cpus", about->cpus);
	json_string(j, "command", about->command);
	if (about->origin.kind.len > 0) {
		json_object(j, "origin");
		json_string(j, "kind", about->origin.kind);
		json_string(j, "by", about->origin.by);
		json_string(j, "not_seen", about->origin.not_seen);
		json_object_end(j);
	}
	json_bool(j, "has_times", w->view->has_times);
	if (about->has_wall_clock)
		json_i64(j, "wall_clock_offset_ns", about->wall_clock_offset_ns);
	json_object_end(j);
}

/* Returns the number of events, less a trailing event of waits if these count as samples of wall-clock time. */
static size_t export_json_event_count(const struct profile *p)
{
	size_t count = p->event_count;
	bool is_wall = false;
	for (size_t i = 0; i < count; i++)
		is_wall |= str_equal(profile_string(p, p->events[i].name), STR("wall-clock"));
	while (is_wall && count > 1 && p->events[count - 1].sample_count == 0 &&
		str_equal(profile_string(p, p->events[count - 1].name), STR("offcpu-time")))
		count--;
	return count;
}

static void export_json_add_events(struct export_writer *w)
{
	const struct profile *p = w->view->profile;
	json_array(&w->json, "events");
	for (size_t i = 0; i < export_json_event_count(p); i++) {
		struct tally_str name = profile_string(p, p->events[i].name);
		json_object(&w->json, NULL);
		json_string(&w->json, "name", name);
		json_string(&w->json, "unit", str_from(export_event_unit(name)));
		json_u64(&w->json, "lost", p->events[i].lost_count);
		json_object_end(&w->json);
	}
	json_array_end(&w->json);
}

static void export_json_add_maps(struct export_writer *w)
{
	const struct profile *p = w->view->profile;
	json_array(&w->json, "maps");
	for (size_t i = 0; i < p->binary_count; i++) {
		json_object(&w->json, NULL);
		json_string(&w->json, "name", profile_string(p, p->binaries[i].name));
		json_string(&w->json, "path", profile_string(p, p->binaries[i].long_name));
		json_string(&w->json, "build_id", profile_string(p, p->binaries[i].build_id));
		json_bool(&w->json, "is_kernel", p->binaries[i].is_kernel);
		json_object_end(&w->json);
		byte_sink_step(w->sink);
	}
	json_array_end(&w->json);
}

static void export_json_add_frames(struct export_writer *w)
{
	const struct profile *p = w->view->profile;
	json_array(&w->json, "frames");
	for (size_t i = 0; i < w->tables->frame_count; i++) {
		const struct profile_frame *frame = &p->frames[w->tables->frames[i]];
		struct flame_label label = flame_label_of(p, w->tables->frames[i], &w->room);
		struct export_line line = export_frame_line(p, frame);
		json_object(&w->json, NULL);
		json_string(&w->json, "symbol", label.name);
		json_string(&w->json, "kind", str_from(export_kind_name(label.kind)));
		if (frame->binary != PROFILE_NONE)
			json_u64(&w->json, "map", frame->binary);
		json_hex(&w->json, "address", frame->address);
		if (line.file.len > 0) {
			json_string(&w->json, "file", line.file);
			json_u64(&w->json, "line", line.number);
		}
		json_u64(&w->json, "function", export_frame_function(p, frame));
		json_object_end(&w->json);
		byte_sink_step(w->sink);
	}
	json_array_end(&w->json);
}

static void export_json_add_stacks(struct export_writer *w)
{
	json_array(&w->json, "stacks");
	for (size_t i = 0; i < w->tables->nodes.len; i++) {
		const struct stack_node *node = &w->tables->nodes.items[i];
		json_object(&w->json, NULL);
		if (node->parent != PROFILE_NONE)
			json_u64(&w->json, "parent", node->parent);
		json_u64(&w->json, "frame", node->frame);
		json_object_end(&w->json);
		byte_sink_step(w->sink);
	}
	json_array_end(&w->json);
}

static void export_json_add_threads(struct export_writer *w)
{
	const struct profile *p = w->view->profile;
	json_array(&w->json, "threads");
	for (size_t i = 0; i < p->thread_count; i++) {
		json_object(&w->json, NULL);
		json_i64(&w->json, "pid", p->threads[i].pid);
		json_i64(&w->json, "tid", p->threads[i].tid);
		json_string(&w->json, "comm", profile_string(p, p->threads[i].comm));
		json_object_end(&w->json);
		byte_sink_step(w->sink);
	}
	json_array_end(&w->json);
}

static void export_json_add_samples(struct export_writer *w)
{
	const struct profile *p = w->view->profile;
	struct export_sample s;
	json_array(&w->json, "samples");
	for (size_t at = 0; export_next_row(w->tables, &at, &s) && !byte_sink_is_lost(w->sink);) {
		json_object(&w->json, NULL);
		json_u64(&w->json, "time", s.time);
		json_u64(&w->json, "event", s.event);
		json_u64(&w->json, "thread", s.thread);
		if (s.cpu >= 0)
			json_i64(&w->json, "cpu", s.cpu);
		json_u64(&w->json, "period", s.period);
		json_u64(&w->json, "stack", s.node);
		const struct profile_value *trace = profile_facet(p, p->samples[s.index].facets, FACET_TRACE);
		if (trace && trace->text != PROFILE_NONE && profile_string(p, trace->text).len > 0)
			json_string(&w->json, "trace", profile_string(p, trace->text));
		struct tally_str state = export_state_name(p, &p->samples[s.index]);
		struct tally_str waker = export_waker(p, &p->samples[s.index]);
		if (state.len > 0)
			json_string(&w->json, "state", state);
		if (waker.len > 0)
			json_string(&w->json, "waker", waker);
		json_object_end(&w->json);
		byte_sink_step(w->sink);
	}
	json_array_end(&w->json);
}

static void export_json_add_marks(struct export_writer *w)
{
	const struct export_view *view = w->view;
	json_array(&w->json, "marks");
	for (size_t i = 0; i < export_mark_count(view) && !byte_sink_is_lost(w->sink); i++) {
		const struct export_mark *mark = export_mark_at(view, i);
		json_object(&w->json, NULL);
		json_u64(&w->json, "time", mark->time);
		json_string(&w->json, "kind", str_from(export_mark_name(mark->kind)));
		if (mark->pid >= 0)
			json_i64(&w->json, "pid", mark->pid);
		if (mark->tid >= 0)
			json_i64(&w->json, "tid", mark->tid);
		if (mark->cpu >= 0)
			json_i64(&w->json, "cpu", mark->cpu);
		if (mark->kind == EXPORT_FORK || mark->kind == EXPORT_LOST || mark->kind == EXPORT_SWITCH)
			json_i64(&w->json, "number", mark->number);
		if (mark->text != INTERN_NONE)
			json_string(&w->json, "text", intern_get(view->mark_texts, mark->text));
		json_object_end(&w->json);
		byte_sink_step(w->sink);
	}
	json_array_end(&w->json);
}

void export_json(struct byte_sink *sink, const struct export_view *view)
{
	struct export_tables tables;
	struct export_writer w = {.sink = sink, .view = view, .tables = &tables, .json = {.out = &sink->text}};
	if (export_tables_init(&tables, view, NULL) != TALLY_OK) {
		sink->failed = true;
		return;
	}
	w.json.is_compact = true;
	json_object(&w.json, NULL);
	json_string(&w.json, "format", STR("tally-export"));
	json_u64(&w.json, "version", SCHEMA_VERSION);
	export_json_add_about(&w);
	export_json_add_events(&w);
	export_json_add_maps(&w);
	export_json_add_threads(&w);
	export_json_add_frames(&w);
	export_json_add_stacks(&w);
	export_json_add_samples(&w);
	export_json_add_marks(&w);
	json_object_end(&w.json);
	sink->failed = sink->failed || w.room.failed;
	text_deinit(&w.room);
	export_tables_deinit(&tables);
}
