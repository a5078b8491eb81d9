/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/id_table.h"
#include "base/protobuf_writer.h"
#include "base/vec.h"
#include "view/export/export_formats.h"

/* Field numbers of perfetto's published protos. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_FTRACE = 1,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_CLOCK = 58,
	PACKET_DEFAULTS = 59,
	PACKET_DESCRIPTOR = 60,
	PACKET_EVENT = 11,
	PACKET_SAMPLE = 66
};
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum {
	INTERNED_FUNCTION = 5,
	INTERNED_FRAME = 6,
	INTERNED_STACK = 7,
	INTERNED_BUILD_ID = 16,
	INTERNED_PATH = 17,
	INTERNED_SOURCE = 18,
	INTERNED_MAPPING = 19
};
enum { STRING_IID = 1, STRING_TEXT = 2 };
enum { MAPPING_IID = 1, EXPORT_PERFETTO_MAPPING_BUILD_ID = 2, MAPPING_PATH = 7 };
enum { FRAME_IID = 1, FRAME_NAME = 2, FRAME_MAPPING = 3, FRAME_PC = 4, FRAME_SOURCE = 5, FRAME_LINE = 6 };
enum { STACK_IID = 1, STACK_FRAMES = 2 };
enum {
	SAMPLE_CPU = 1,
	SAMPLE_PID = 2,
	SAMPLE_TID = 3,
	EXPORT_PERFETTO_SAMPLE_STACK = 4,
	SAMPLE_MODE = 5,
	SAMPLE_TIMEBASE = 6,
	SAMPLE_LOST = 17
};
enum { MODE_UNKNOWN, MODE_KERNEL, MODE_USER, MODE_HYPERVISOR, MODE_GUEST_KERNEL, MODE_GUEST_USER };
enum { DEFAULTS_SAMPLE = 12, DEFAULTS_CLOCK = 58, SAMPLE_DEFAULTS_TIMEBASE = 1, TIMEBASE_NAME = 10 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_CATEGORY = 22, EVENT_NAME = 23, EVENT_INSTANT = 3 };
enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2, FTRACE_TIME = 1, FTRACE_PID = 2, FTRACE_SWITCH = 4 };
enum { SWITCH_PREV_COMM = 1, SWITCH_PREV_PID = 2, SWITCH_PREV_STATE = 4, SWITCH_NEXT_COMM = 5, SWITCH_NEXT_PID = 6 };

#define CLOCK_MONOTONIC_ID 3 /* ID of one of Perfetto's built-in clocks. */
#define FTRACE_SEQUENCE	   1
/* Sequence of the first event; each event has its own, and so its own interning state. */
#define FIRST_SEQUENCE 2

struct perfetto {
	struct byte_sink *sink;
	struct text *out;
	const struct export_view *view;
	struct export_tables tables;
	struct intern strings; /* Names and paths; an ID + 1 is the interning ID, for all kinds of strings. */
	/* Whether the packets of the current sequence have named a frame, node or binary already. */
	bool *frame_is_told, *node_is_told, *binary_is_told;
	struct id_table told; /* Strings already written in the current sequence; keys: field and string. */
	struct text room;
};

static size_t export_perfetto_begin_packet(struct perfetto *w, uint32_t sequence, uint64_t time)
{
	size_t packet = protobuf_open(w->out);
	protobuf_u64(w->out, PACKET_TIME, time);
	protobuf_u64(w->out, PACKET_CLOCK, CLOCK_MONOTONIC_ID);
	protobuf_u64(w->out, PACKET_SEQUENCE, sequence);
	return packet;
}

static void end_packet(struct perfetto *w, size_t packet)
{
	protobuf_close(w->out, TRACE_PACKET, packet);
	byte_sink_step(w->sink);
}

static uint64_t tell_string(struct perfetto *w, unsigned field, struct tally_str s)
{
	uint32_t id = 0;
	bool is_new = false;
	if (!intern_add(&w->strings, s.data ? s.data : "", s.len, &id))
		w->sink->failed = true;
	const uint64_t key = (uint64_t)field << 32 | id;
	if (id_table_add(&w->told, &key, &is_new) == ID_TABLE_NONE)
		w->sink->failed = true;
	if (is_new) {
		size_t begin = protobuf_open(w->out);
		protobuf_u64(w->out, STRING_IID, id + 1);
		protobuf_string(w->out, STRING_TEXT, s);
		protobuf_close(w->out, field, begin);
	}
	return id + 1;
}

static void tell_binary(struct perfetto *w, uint32_t index)
{
	const struct profile *p = w->view->profile;
	const struct profile_binary *binary = &p->binaries[index];
	struct tally_str build_id = profile_string(p, binary->build_id);
	if (w->binary_is_told[index])
		return;
	w->binary_is_told[index] = true;
	uint64_t path = tell_string(w, INTERNED_PATH, profile_string(p, binary->long_name));
	uint64_t id = build_id.len > 0 ? tell_string(w, INTERNED_BUILD_ID, build_id) : 0;
	size_t begin = protobuf_open(w->out);
	protobuf_u64(w->out, MAPPING_IID, index + 1);
	if (id)
		protobuf_u64(w->out, EXPORT_PERFETTO_MAPPING_BUILD_ID, id);
	protobuf_u64(w->out, MAPPING_PATH, path);
	protobuf_close(w->out, INTERNED_MAPPING, begin);
}

static void tell_frame(struct perfetto *w, uint32_t index)
{
	const struct profile *p = w->view->profile;
	const struct profile_frame *frame = &p->frames[w->tables.frames[index]];
	if (w->frame_is_told[index])
		return;
	w->frame_is_told[index] = true;
	struct flame_label label = flame_label_of(p, w->tables.frames[index], &w->room);
	struct export_line line = export_frame_line(p, frame);
	uint64_t name = tell_string(w, INTERNED_FUNCTION, label.name);
	uint64_t source = line.file.len > 0 ? tell_string(w, INTERNED_SOURCE, line.file) : 0;
	if (frame->binary != PROFILE_NONE)
		tell_binary(w, frame->binary);
	size_t begin = protobuf_open(w->out);
	protobuf_u64(w->out, FRAME_IID, index + 1);
	protobuf_u64(w->out, FRAME_NAME, name);
	if (frame->binary != PROFILE_NONE) {
		protobuf_u64(w->out, FRAME_MAPPING, frame->binary + 1);
		protobuf_u64(w->out, FRAME_PC, frame->address);
	}
	if (source) {
		protobuf_u64(w->out, FRAME_SOURCE, source);
		protobuf_u64(w->out, FRAME_LINE, line.number);
	}
	protobuf_close(w->out, INTERNED_FRAME, begin);
}

static void tell_stack(struct perfetto *w, uint32_t node)
{
	if (w->node_is_told[node])
		return;
	w->node_is_told[node] = true;
	size_t interned = protobuf_open(w->out);
	for (uint32_t at = node; at != PROFILE_NONE; at = w->tables.nodes.items[at].parent)
		tell_frame(w, w->tables.nodes.items[at].frame);
	size_t stack = protobuf_open(w->out);
	protobuf_u64(w->out, STACK_IID, node + 1);
	VEC(uint32_t) path = {0};
	for (uint32_t at = node; at != PROFILE_NONE; at = w->tables.nodes.items[at].parent)
		if (!vec_push(&path, w->tables.nodes.items[at].frame))
			w->sink->failed = true;
	/* Frames are written outermost first, and not packed, because these protos are proto2. */
	for (size_t i = path.len; i-- > 0;)
		protobuf_u64(w->out, STACK_FRAMES, path.items[i] + 1);
	vec_free(&path);
	protobuf_close(w->out, INTERNED_STACK, stack);
	protobuf_close(w->out, PACKET_INTERNED, interned);
}

static unsigned export_perfetto_mode_of(uint8_t level)
{
	switch ((enum profile_level)level) {
	case PROFILE_LEVEL_USER:
		return MODE_USER;
	case PROFILE_LEVEL_KERNEL:
		return MODE_KERNEL;
	case PROFILE_LEVEL_GUEST_KERNEL:
		return MODE_GUEST_KERNEL;
	case PROFILE_LEVEL_GUEST_USER:
		return MODE_GUEST_USER;
	case PROFILE_LEVEL_HYPERVISOR:
		return MODE_HYPERVISOR;
	case PROFILE_LEVEL_UNKNOWN:
		break;
	}
	return MODE_UNKNOWN;
}

static void export_perfetto_add_sample(struct perfetto *w, const struct export_sample *s, uint64_t timebase)
{
	const struct profile *p = w->view->profile;
	const struct profile_thread *thread = &p->threads[s->thread];
	uint32_t sequence = FIRST_SEQUENCE + s->event;
	size_t packet = export_perfetto_begin_packet(w, sequence, s->time);
	protobuf_u64(w->out, PACKET_FLAGS, FLAG_NEEDS_STATE);
	tell_stack(w, s->node);
	size_t sample = protobuf_open(w->out);
	if (s->cpu >= 0)
		protobuf_u64(w->out, SAMPLE_CPU, (uint64_t)s->cpu);
	if (thread->pid >= 0)
		protobuf_u64(w->out, SAMPLE_PID, (uint64_t)thread->pid);
	if (thread->tid >= 0)
		protobuf_u64(w->out, SAMPLE_TID, (uint64_t)thread->tid);
	protobuf_u64(w->out, EXPORT_PERFETTO_SAMPLE_STACK, s->node + 1);
	protobuf_u64(w->out, SAMPLE_MODE, export_perfetto_mode_of(p->frames[p->samples[s->index].leaf].level));
	protobuf_u64(w->out, SAMPLE_TIMEBASE, timebase);
	protobuf_close(w->out, PACKET_SAMPLE, sample);
	end_packet(w, packet);
}

static void begin_sequence(struct perfetto *w, uint32_t event)
{
	const struct profile *p = w->view->profile;
	memset(w->frame_is_told, 0, w->tables.frame_count);
	memset(w->node_is_told, 0, w->tables.nodes.len);
	memset(w->binary_is_told, 0, p->binary_count);
	id_table_deinit(&w->told);
	w->told = (struct id_table){.words = 1};
	size_t packet = export_perfetto_begin_packet(w, FIRST_SEQUENCE + event, w->tables.first_time);
	protobuf_u64(w->out, PACKET_FLAGS, FLAG_CLEARED);
	size_t defaults = protobuf_open(w->out);
	protobuf_u64(w->out, DEFAULTS_CLOCK, CLOCK_MONOTONIC_ID);
	size_t sample = protobuf_open(w->out), timebase = protobuf_open(w->out);
	protobuf_string(w->out, TIMEBASE_NAME, profile_string(p, p->events[event].name));
	protobuf_close(w->out, SAMPLE_DEFAULTS_TIMEBASE, timebase);
	protobuf_close(w->out, DEFAULTS_SAMPLE, sample);
	protobuf_close(w->out, PACKET_DEFAULTS, defaults);
	end_packet(w, packet);
}

/* timebase is the running count of the event, which Perfetto shows beside a sample. */
static void export_perfetto_add_event(struct perfetto *w, uint32_t event)
{
	struct export_sample s;
	uint64_t timebase = 0;
	begin_sequence(w, event);
	for (size_t at = 0; export_next_row(&w->tables, &at, &s) && !byte_sink_is_lost(w->sink);) {
		if (s.event != event)
			continue;
		timebase += s.period;
		export_perfetto_add_sample(w, &s, timebase);
	}
}

/* The ID of a thread's track consists of PID and TID. */
static uint64_t track_uuid(int32_t pid, int32_t tid)
{
	return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid | UINT64_C(1) << 63;
}

static void export_perfetto_add_track(struct perfetto *w, const struct export_track *track)
{
	struct tally_str comm = profile_string(w->view->profile, track->comm);
	if (track->pid < 0 || track->tid < 0)
		return;
	if (track->pid == track->tid) {
		size_t packet = export_perfetto_begin_packet(w, FTRACE_SEQUENCE, w->tables.first_time);
		size_t descriptor = protobuf_open(w->out);
		protobuf_u64(w->out, TRACK_UUID, track_uuid(track->pid, 0) ^ UINT64_C(1) << 62);
		size_t process = protobuf_open(w->out);
		protobuf_u64(w->out, PROCESS_PID, (uint64_t)track->pid);
		protobuf_string(w->out, PROCESS_NAME, comm);
		protobuf_close(w->out, TRACK_PROCESS, process);
		protobuf_close(w->out, PACKET_DESCRIPTOR, descriptor);
		end_packet(w, packet);
	}
	size_t packet = export_perfetto_begin_packet(w, FTRACE_SEQUENCE, w->tables.first_time);
	size_t descriptor = protobuf_open(w->out);
	protobuf_u64(w->out, TRACK_UUID, track_uuid(track->pid, track->tid));
	size_t thread = protobuf_open(w->out);
	protobuf_u64(w->out, THREAD_PID, (uint64_t)track->pid);
	protobuf_u64(w->out, THREAD_TID, (uint64_t)track->tid);
	protobuf_string(w->out, THREAD_NAME, comm);
	protobuf_close(w->out, TRACK_THREAD, thread);
	protobuf_close(w->out, PACKET_DESCRIPTOR, descriptor);
	end_packet(w, packet);
}

static void put_mark_text(struct perfetto *w, unsigned field, uint32_t text)
{
	if (text != INTERN_NONE)
		protobuf_string(w->out, field, intern_get(w->view->mark_texts, text));
}

static void export_perfetto_add_switch(struct perfetto *w, const struct export_mark *mark)
{
	size_t packet = export_perfetto_begin_packet(w, FTRACE_SEQUENCE, mark->time);
	size_t bundle = protobuf_open(w->out);
	protobuf_u64(w->out, BUNDLE_CPU, mark->cpu < 0 ? 0 : (uint64_t)mark->cpu);
	size_t event = protobuf_open(w->out);
	protobuf_u64(w->out, FTRACE_TIME, mark->time);
	protobuf_u64(w->out, FTRACE_PID, (uint64_t)mark->tid);
	size_t body = protobuf_open(w->out);
	put_mark_text(w, SWITCH_PREV_COMM, mark->left_text);
	protobuf_u64(w->out, SWITCH_PREV_PID, (uint64_t)mark->tid);
	protobuf_u64(w->out, SWITCH_PREV_STATE, (uint64_t)mark->state);
	put_mark_text(w, SWITCH_NEXT_COMM, mark->text);
	protobuf_u64(w->out, SWITCH_NEXT_PID, (uint64_t)mark->number);
	protobuf_close(w->out, FTRACE_SWITCH, body);
	protobuf_close(w->out, BUNDLE_EVENT, event);
	protobuf_close(w->out, PACKET_FTRACE, bundle);
	end_packet(w, packet);
}

static void add_lost(struct perfetto *w, const struct export_mark *mark)
{
	size_t packet = export_perfetto_begin_packet(w, FTRACE_SEQUENCE, mark->time);
	size_t sample = protobuf_open(w->out);
	if (mark->cpu >= 0)
		protobuf_u64(w->out, SAMPLE_CPU, (uint64_t)mark->cpu);
	protobuf_u64(w->out, SAMPLE_LOST, (uint64_t)mark->number);
	protobuf_close(w->out, PACKET_SAMPLE, sample);
	end_packet(w, packet);
}

static void add_instant(struct perfetto *w, const struct export_mark *mark)
{
	size_t packet = export_perfetto_begin_packet(w, FTRACE_SEQUENCE, mark->time);
	size_t event = protobuf_open(w->out);
	protobuf_u64(w->out, EVENT_TYPE, EVENT_INSTANT);
	protobuf_u64(w->out, EVENT_TRACK, track_uuid(mark->pid, mark->tid));
	protobuf_string(w->out, EVENT_CATEGORY, STR("mark"));
	text_clear(&w->room);
	text_str(&w->room, export_mark_name(mark->kind));
	if (mark->text != INTERN_NONE) {
		struct tally_str s = intern_get(w->view->mark_texts, mark->text);
		text_str(&w->room, " ");
		text_bytes(&w->room, s.data, s.len);
	}
	protobuf_string(w->out, EVENT_NAME, (struct tally_str){w->room.data, w->room.len});
	protobuf_close(w->out, PACKET_EVENT, event);
	end_packet(w, packet);
}

static void export_perfetto_add_marks(struct perfetto *w)
{
	for (size_t i = 0; i < export_mark_count(w->view) && !byte_sink_is_lost(w->sink); i++) {
		const struct export_mark *mark = export_mark_at(w->view, i);
		if (mark->kind == EXPORT_SWITCH)
			export_perfetto_add_switch(w, mark);
		else if (mark->kind == EXPORT_LOST)
			add_lost(w, mark);
		else if (mark->time >= w->tables.first_time && mark->tid >= 0)
			add_instant(w, mark);
	}
}

static bool export_perfetto_prepare(struct perfetto *w)
{
	intern_init(&w->strings);
	w->told.words = 1;
	if (export_tables_init(&w->tables, w->view, NULL) != TALLY_OK)
		return false;
	w->frame_is_told = calloc(w->tables.frame_count + 1, 1);
	w->node_is_told = calloc(w->tables.nodes.len + 1, 1);
	w->binary_is_told = calloc(w->view->profile->binary_count + 1, 1);
	return w->frame_is_told && w->node_is_told && w->binary_is_told;
}

void export_perfetto(struct byte_sink *sink, const struct export_view *view)
{
	struct perfetto w = {.sink = sink, .out = &sink->text, .view = view};
	bool *is_used = export_event_flags(view);
	if (export_perfetto_prepare(&w) && is_used) {
		for (size_t i = 0; i < w.tables.track_count; i++)
			export_perfetto_add_track(&w, &w.tables.tracks[i]);
		for (uint32_t i = 0; i < view->profile->event_count; i++)
			if (is_used[i])
				export_perfetto_add_event(&w, i);
		export_perfetto_add_marks(&w);
	} else {
		sink->failed = true;
	}
	sink->failed = sink->failed || w.room.failed;
	free(is_used);
	free(w.frame_is_told);
	free(w.node_is_told);
	free(w.binary_is_told);
	intern_deinit(&w.strings);
	id_table_deinit(&w.told);
	text_deinit(&w.room);
	export_tables_deinit(&w.tables);
}
