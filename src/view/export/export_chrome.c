/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "base/vec.h"
#include "view/export/export_formats.h"

struct chrome {
	struct byte_sink *sink;
	struct text *out;
	const struct export_view *view;
	struct export_tables tables;
	bool has_event;
};

static void begin_event(struct chrome *w, const char *phase, int32_t pid, int32_t tid)
{
	text_str(w->out, w->has_event ? ",\n" : "\n");
	w->has_event = true;
	text_printf(w->out, "{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", phase, pid, tid);
}

static void end_event(struct chrome *w)
{
	text_char(w->out, '}');
	byte_sink_step(w->sink);
}

static void export_chrome_put_time(struct chrome *w, uint64_t time)
{
	text_str(w->out, ",\"ts\":");
	export_decimal(w->out, time, 3);
}

static void export_chrome_put_text(struct chrome *w, const char *key, struct tally_str s)
{
	text_printf(w->out, ",\"%s\":", key);
	export_json_string(w->out, s);
}

static void name_track(struct chrome *w, const char *what, const struct export_track *track)
{
	begin_event(w, "M", track->pid, track->tid);
	export_chrome_put_text(w, "name", str_from(what));
	text_str(w->out, ",\"args\":{\"name\":");
	export_json_string(w->out, profile_string(w->view->profile, track->comm));
	text_char(w->out, '}');
	end_event(w);
}

static void export_chrome_add_samples(struct chrome *w)
{
	const struct profile *p = w->view->profile;
	struct export_sample s;
	for (size_t at = 0; export_next_row(&w->tables, &at, &s) && !byte_sink_is_lost(w->sink);) {
		const struct export_track *track = &w->tables.tracks[s.track];
		begin_event(w, "P", track->pid, track->tid);
		export_chrome_put_time(w, s.time);
		export_chrome_put_text(w, "cat", STR("sample"));
		export_chrome_put_text(w, "name", profile_string(p, p->events[s.event].name));
		text_printf(w->out, ",\"sf\":\"%u\",\"args\":{\"weight\":%llu", s.node, (unsigned long long)s.period);
		if (s.cpu >= 0)
			text_printf(w->out, ",\"cpu\":%d", s.cpu);
		text_char(w->out, '}');
		end_event(w);
	}
}

/* From one switch to the next one on the CPU, the task that was switched to runs. CPUs are threads of process -1. Begin
 * and end are separate events, because a begin plus a duration, added as floating-point numbers, may exceed the next
 * begin; readers require the name and the arguments at both. */
static void export_chrome_add_run(struct chrome *w, const char *phase, const struct export_mark *mark, uint64_t time)
{
	begin_event(w, phase, -1, mark->cpu);
	export_chrome_put_time(w, time);
	export_chrome_put_text(w, "cat", STR("sched"));
	export_chrome_put_text(
		w, "name", mark->text == INTERN_NONE ? STR("?") : intern_get(w->view->mark_texts, mark->text));
	text_printf(w->out, ",\"args\":{\"tid\":%lld}", (long long)mark->number);
	end_event(w);
}

static void add_mark(struct chrome *w, const struct export_mark *mark)
{
	bool has_thread = mark->tid >= 0 && mark->kind != EXPORT_LOST;
	begin_event(w, "i", has_thread ? mark->pid : 0, has_thread ? mark->tid : 0);
	export_chrome_put_time(w, mark->time);
	export_chrome_put_text(w, "s", has_thread ? STR("t") : STR("g"));
	export_chrome_put_text(w, "cat", STR("mark"));
	export_chrome_put_text(w, "name", str_from(export_mark_name(mark->kind)));
	if (mark->text != INTERN_NONE) {
		text_str(w->out, ",\"args\":{\"name\":");
		export_json_string(w->out, intern_get(w->view->mark_texts, mark->text));
		text_char(w->out, '}');
	} else if (mark->kind != EXPORT_EXIT) {
		text_printf(w->out, ",\"args\":{\"number\":%lld}", (long long)mark->number);
	}
	end_event(w);
}

static bool export_chrome_add_marks(struct chrome *w)
{
	const struct export_view *view = w->view;
	/* By CPU: the switch that began its current run; NULL if there is none. */
	VEC(const struct export_mark *) runs = {0};
	bool is_done = true;
	for (size_t i = 0; is_done && i < export_mark_count(view) && !byte_sink_is_lost(w->sink); i++) {
		const struct export_mark *mark = export_mark_at(view, i);
		if (mark->time < w->tables.first_time)
			continue; /* Names of threads already reflect what happened before the first sample. */
		if (mark->kind != EXPORT_SWITCH) {
			add_mark(w, mark);
			continue;
		}
		if (mark->cpu < 0 || mark->cpu >= (int32_t)LIMIT_CPUS)
			continue;
		while (is_done && runs.len <= (size_t)mark->cpu)
			is_done = vec_push(&runs, NULL);
		if (!is_done)
			break;
		if (runs.items[mark->cpu])
			export_chrome_add_run(w, "E", runs.items[mark->cpu], mark->time);
		export_chrome_add_run(w, "B", mark, mark->time);
		runs.items[mark->cpu] = mark;
	}
	for (size_t cpu = 0; cpu < runs.len; cpu++)
		if (runs.items[cpu])
			export_chrome_add_run(w, "E", runs.items[cpu], w->tables.last_time);
	vec_free(&runs);
	return is_done;
}

static void export_chrome_add_stacks(struct chrome *w)
{
	struct text room = {0};
	for (size_t i = 0; i < w->tables.nodes.len && !byte_sink_is_lost(w->sink); i++) {
		const struct stack_node *node = &w->tables.nodes.items[i];
		struct flame_label label = flame_label_of(w->view->profile, w->tables.frames[node->frame], &room);
		text_printf(w->out, "%s\"%zu\":{\"category\":", i ? ",\n" : "\n", i);
		export_json_string(w->out, label.object.len > 0 ? label.object : STR("[unknown]"));
		export_chrome_put_text(w, "name", label.name);
		if (node->parent != PROFILE_NONE)
			text_printf(w->out, ",\"parent\":\"%u\"", node->parent);
		text_char(w->out, '}');
		byte_sink_step(w->sink);
	}
	w->out->failed = w->out->failed || room.failed;
	text_deinit(&room);
}

static void export_chrome_write_all(struct chrome *w)
{
	const struct export_about *about = &w->view->about;
	text_str(w->out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":");
	export_json_string(w->out, about->program);
	export_chrome_put_text(w, "version", about->version);
	export_chrome_put_text(w, "recording", about->title);
	export_chrome_put_text(w, "command", about->command);
	export_chrome_put_text(w, "hostname", about->hostname);
	if (about->origin.sentence.len > 0)
		export_chrome_put_text(w, "origin", about->origin.sentence);
	text_str(w->out, "},\n\"stackFrames\":{");
	export_chrome_add_stacks(w);
	text_str(w->out, "},\n\"traceEvents\":[");
	for (size_t i = 0; i < w->tables.track_count; i++) {
		const struct export_track *track = &w->tables.tracks[i];
		if (track->pid == track->tid)
			name_track(w, "process_name", track);
		name_track(w, "thread_name", track);
	}
	export_chrome_add_samples(w);
	if (!export_chrome_add_marks(w))
		w->sink->failed = true;
	text_str(w->out, "]}\n");
}

void export_chrome(struct byte_sink *sink, const struct export_view *view)
{
	struct chrome w = {.sink = sink, .out = &sink->text, .view = view};
	if (export_tables_init(&w.tables, view, NULL) == TALLY_OK)
		export_chrome_write_all(&w);
	else
		sink->failed = true;
	export_tables_deinit(&w.tables);
}
