/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/id_table.h"
#include "base/limits.h"
#include "base/protobuf_writer.h"
#include "base/vec.h"
#include "view/export/export_formats.h"

/* Field numbers of profile.proto. */
enum {
	EXPORT_PPROF_PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	EXPORT_PPROF_PROFILE_TIME = 9,
	EXPORT_PPROF_PROFILE_DURATION = 10,
	EXPORT_PPROF_PROFILE_PERIOD_TYPE = 11,
	EXPORT_PPROF_PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14
};
enum { EXPORT_PPROF_TYPE_TYPE = 1, EXPORT_PPROF_TYPE_UNIT = 2 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3 };
enum {
	MAPPING_ID = 1,
	MAPPING_START = 2,
	EXPORT_PPROF_MAPPING_LIMIT = 3,
	MAPPING_OFFSET = 4,
	EXPORT_PPROF_MAPPING_FILE = 5,
	EXPORT_PPROF_MAPPING_BUILD_ID = 6,
	MAPPING_FUNCTIONS = 7,
	MAPPING_FILES = 8,
	MAPPING_LINES = 9,
	MAPPING_INLINES = 10
};
enum { LOCATION_ID = 1, EXPORT_PPROF_LOCATION_MAPPING = 2, EXPORT_PPROF_LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { EXPORT_PPROF_LINE_FUNCTION = 1, EXPORT_PPROF_LINE_NUMBER = 2 };
enum { FUNCTION_ID = 1, EXPORT_PPROF_FUNCTION_NAME = 2, FUNCTION_SYSTEM = 3, EXPORT_PPROF_FUNCTION_FILE = 4 };

#define EXPORT_PPROF_PAGE_MASK UINT64_C(0xfff)
#define LOCATION_UNSEEN	       0
#define LOCATION_INLINED       UINT32_MAX
/* Number of samples by which prefetching runs ahead, because their data is scattered in memory. */
#define SAMPLES_AHEAD 8

struct export_pprof_named_function { /* File and ID of a function of the profile, as last used. */
	uint32_t file; /* The profile's string; PROFILE_NONE: no file. */
	uint32_t id; /* 0 if not written yet. */
};

struct pprof {
	struct byte_sink *sink;
	const struct export_view *view;
	struct intern strings;
	/* By frame: its location; LOCATION_UNSEEN: not inspected yet; LOCATION_INLINED: part of another frame's
	 * location. */
	uint32_t *location_of_frame;
	/* Locations with inlined calls; keys: the innermost and the outermost frame, and their number. */
	struct id_table locations;
	VEC(uint32_t) inlined; /* By ID in locations: the location. */
	uint32_t location_count;
	struct id_table functions; /* Keys: name, file, and the profile's function. */
	struct export_pprof_named_function *named; /* Cache by function of the profile: most have a single file. */
	uint32_t *value_of_event; /* By event: index of its value; PROFILE_NONE if no sample of it is selected. */
	uint32_t value_count;
	uint32_t cpu_value; /* Index of the value for the part of wall-clock time on the CPU; 0: none. */
	uint64_t *limits; /* By binary: the end of the page with its highest address; 0: not used. */
	bool *has_lines, *has_inlines; /* Indexed by binary. */
	struct text labels; /* Encoded labels of all threads. */
	size_t *label_begin; /* By thread: where its labels begin; one more at the end. */
	struct text room;
	struct text packed; /* Encoded path and values of a sample. */
	VEC(uint32_t) path; /* Locations of a sample, innermost first. */
};

static uint64_t export_pprof_string_of(struct pprof *w, struct tally_str s)
{
	uint32_t id = 0;
	if (!intern_add(&w->strings, s.data, s.len, &id))
		w->sink->failed = true;
	return id;
}

static uint64_t export_pprof_text_of(struct pprof *w, uint32_t id)
{
	return export_pprof_string_of(w, profile_string(w->view->profile, id));
}

static void add_type(struct pprof *w, unsigned field, struct tally_str type, const char *unit)
{
	size_t begin = protobuf_open(&w->sink->text);
	protobuf_u64(&w->sink->text, EXPORT_PPROF_TYPE_TYPE, export_pprof_string_of(w, type));
	protobuf_u64(&w->sink->text, EXPORT_PPROF_TYPE_UNIT, export_pprof_string_of(w, str_from(unit)));
	protobuf_close(&w->sink->text, field, begin);
}

static struct tally_str export_pprof_type_name(const struct pprof *w, struct tally_str event)
{
	if (str_equal(event, STR("wall-clock")))
		return STR("wall");
	return w->view->is_of_series ? export_type_name(event, profile_event_is_waiting(event)) : event;
}

/* Adds the types of values: the number of samples, and what the samples of each event represent. */
static bool add_types(struct pprof *w)
{
	const struct profile *p = w->view->profile;
	bool *is_used = export_event_flags(w->view);
	w->value_of_event = malloc((p->event_count + 1) * sizeof(*w->value_of_event));
	if (!is_used || !w->value_of_event) {
		free(is_used);
		return false;
	}
	add_type(w, EXPORT_PPROF_PROFILE_SAMPLE_TYPE, STR("samples"), "count");
	w->value_count = 1;
	for (uint32_t i = 0; i < p->event_count; i++) {
		struct tally_str name = profile_string(p, p->events[i].name), type = export_pprof_type_name(w, name);
		w->value_of_event[i] = PROFILE_NONE;
		if (!is_used[i])
			continue;
		if (w->value_count == 1) {
			add_type(w, EXPORT_PPROF_PROFILE_PERIOD_TYPE, w->view->is_of_series ? type : name,
				export_event_unit(name));
			if (p->events[i].sample_count)
				protobuf_u64(&w->sink->text, EXPORT_PPROF_PROFILE_PERIOD,
					p->events[i].total_period / p->events[i].sample_count);
			protobuf_u64(&w->sink->text, PROFILE_DEFAULT_TYPE, export_pprof_string_of(w, type));
		}
		w->value_of_event[i] = w->value_count++;
		add_type(w, EXPORT_PPROF_PROFILE_SAMPLE_TYPE, type, export_event_unit(name));
		if (str_equal(name, STR("wall-clock"))) {
			w->cpu_value = w->value_count++;
			add_type(w, EXPORT_PPROF_PROFILE_SAMPLE_TYPE, STR("cpu"), "nanoseconds");
		}
	}
	free(is_used);
	return true;
}

static uint64_t export_pprof_add_function(struct pprof *w, const struct flame_label *label, struct tally_str file)
{
	struct text *out = &w->sink->text;
	uint64_t key[3] = {export_pprof_string_of(w, label->name), export_pprof_string_of(w, file), label->function};
	bool is_new;
	uint32_t id = id_table_add(&w->functions, key, &is_new);
	if (id == ID_TABLE_NONE) {
		w->sink->failed = true;
		return 0;
	}
	if (is_new) {
		size_t begin = protobuf_open(out);
		protobuf_u64(out, FUNCTION_ID, id + 1);
		protobuf_u64(out, EXPORT_PPROF_FUNCTION_NAME, key[0]);
		protobuf_u64(out, FUNCTION_SYSTEM, key[0]);
		if (file.len > 0)
			protobuf_u64(out, EXPORT_PPROF_FUNCTION_FILE, key[1]);
		protobuf_close(out, PROFILE_FUNCTION, begin);
	}
	return id + 1;
}

static uint64_t export_pprof_function_of(struct pprof *w, uint32_t index, struct tally_str file)
{
	const struct profile *p = w->view->profile;
	const struct profile_frame *frame = &p->frames[index];
	uint32_t file_id = file.len > 0 ? frame->own_line.file : PROFILE_NONE;
	struct export_pprof_named_function *known = frame->function == PROFILE_NONE ? NULL : &w->named[frame->function];
	if (known && known->id && known->file == file_id)
		return known->id;
	struct flame_label label = flame_label_of(p, index, &w->room);
	uint64_t id = export_pprof_add_function(w, &label, file);
	if (known)
		*known = (struct export_pprof_named_function){file_id, (uint32_t)id};
	return id;
}

static void note_binary(struct pprof *w, const struct profile_frame *frame, bool has_line, bool has_inline)
{
	if (frame->binary == PROFILE_NONE)
		return;
	if (frame->address >= w->limits[frame->binary])
		w->limits[frame->binary] = (frame->address | EXPORT_PPROF_PAGE_MASK) + 1;
	if (w->limits[frame->binary] == 0) /* The addition overflows on the last page. */
		w->limits[frame->binary] = UINT64_MAX;
	w->has_lines[frame->binary] |= has_line;
	w->has_inlines[frame->binary] |= has_inline;
}

/* frames: innermost first; the last one contains the code. Functions are written before the location, because they
 * are not part of it. */
static uint32_t write_location(struct pprof *w, const uint32_t *frames, size_t count)
{
	const struct profile *p = w->view->profile;
	struct text *out = &w->sink->text;
	uint64_t functions[LIMIT_INLINE_DEPTH];
	uint64_t numbers[LIMIT_INLINE_DEPTH];
	bool has_line = false;
	for (size_t i = 0; i < count; i++) {
		struct export_line line = export_frame_line(p, &p->frames[frames[i]]);
		functions[i] = export_pprof_function_of(w, frames[i], line.file);
		numbers[i] = line.number;
		has_line = has_line || line.file.len > 0;
	}
	const struct profile_frame *frame = &p->frames[frames[0]];
	note_binary(w, frame, has_line, count > 1);
	size_t begin = protobuf_open(out);
	protobuf_u64(out, LOCATION_ID, ++w->location_count);
	if (frame->binary != PROFILE_NONE)
		protobuf_u64(out, EXPORT_PPROF_LOCATION_MAPPING, frame->binary + 1);
	protobuf_u64(out, EXPORT_PPROF_LOCATION_ADDRESS, frame->address);
	for (size_t i = 0; i < count; i++) {
		size_t line = protobuf_open(out);
		protobuf_u64(out, EXPORT_PPROF_LINE_FUNCTION, functions[i]);
		if (numbers[i])
			protobuf_u64(out, EXPORT_PPROF_LINE_NUMBER, numbers[i]);
		protobuf_close(out, LOCATION_LINE, line);
	}
	protobuf_close(out, PROFILE_LOCATION, begin);
	return w->location_count;
}

static uint32_t inlined_location(struct pprof *w, const uint32_t *frames, size_t count)
{
	const uint64_t key[2] = {(uint64_t)frames[0] << 32 | frames[count - 1], count};
	bool is_new;
	uint32_t id = id_table_add(&w->locations, key, &is_new);
	if (id == ID_TABLE_NONE || (is_new && !vec_push(&w->inlined, 0))) {
		w->sink->failed = true;
		return 0;
	}
	if (is_new)
		w->inlined.items[id] = write_location(w, frames, count);
	return w->inlined.items[id];
}

/* Finds the locations of a stack; each includes the calls that were inlined there. */
static void export_pprof_find_path(struct pprof *w, const uint32_t *frames, size_t count)
{
	w->path.len = 0;
	if (!vec_reserve(&w->path, count)) {
		w->sink->failed = true;
		return;
	}
	for (size_t i = 0, len; i < count; i += len) {
		uint32_t id = w->location_of_frame[frames[i]];
		len = 1;
		if (id == LOCATION_UNSEEN)
			id = w->location_of_frame[frames[i]] = profile_frame_is_inlined(w->view->profile, frames[i])
								       ? LOCATION_INLINED
								       : write_location(w, &frames[i], 1);
		if (id == LOCATION_INLINED) {
			len = export_count_inlined(w->view->profile, frames + i, count - i);
			id = inlined_location(w, frames + i, len);
		}
		w->path.items[w->path.len++] = id;
	}
}

static void export_pprof_add_label(struct pprof *w, const char *key, uint64_t str, int64_t num)
{
	size_t begin = protobuf_open(&w->labels);
	protobuf_u64(&w->labels, LABEL_KEY, export_pprof_string_of(w, str_from(key)));
	if (str)
		protobuf_u64(&w->labels, LABEL_STR, str);
	else
		protobuf_u64(&w->labels, LABEL_NUM, (uint64_t)num);
	protobuf_close(&w->labels, SAMPLE_LABEL, begin);
}

static void add_labels(struct pprof *w, const struct profile_thread *thread)
{
	struct tally_str comm = profile_string(w->view->profile, thread->comm);
	struct text *room = &w->room;
	export_pprof_add_label(w, "comm", export_pprof_string_of(w, comm), 0);
	if (thread->pid < 0 && thread->tid < 0)
		return;
	text_clear(room);
	text_bytes(room, comm.data, comm.len);
	text_printf(room, " %d/%d", thread->pid, thread->tid);
	export_pprof_add_label(w, "thread", export_pprof_string_of(w, (struct tally_str){room->data, room->len}), 0);
	export_pprof_add_label(w, "pid", 0, thread->pid);
	export_pprof_add_label(w, "tid", 0, thread->tid);
}

static bool make_labels(struct pprof *w)
{
	const struct profile *p = w->view->profile;
	w->label_begin = calloc(p->thread_count + 1, sizeof(*w->label_begin));
	for (size_t i = 0; w->label_begin && i < p->thread_count; i++) {
		if (!w->view->is_of_series)
			add_labels(w, &p->threads[i]);
		w->label_begin[i + 1] = w->labels.len;
	}
	return w->label_begin && !w->labels.failed;
}

static void export_pprof_add_word(struct pprof *w, const char *key, struct tally_str word)
{
	if (word.len == 0)
		return;
	struct text *out = &w->sink->text;
	size_t begin = protobuf_open(out);
	protobuf_u64(out, LABEL_KEY, export_pprof_string_of(w, str_from(key)));
	protobuf_u64(out, LABEL_STR, export_pprof_string_of(w, word));
	protobuf_close(out, SAMPLE_LABEL, begin);
}

static void export_pprof_add_sample(struct pprof *w, const struct profile_sample *sample)
{
	struct text *out = &w->sink->text, *packed = &w->packed;
	struct list stack = profile_stack(w->view->profile, sample->stack);
	if (sample->stack == PROFILE_NONE)
		export_pprof_find_path(w, &sample->leaf, 1);
	else
		export_pprof_find_path(w, stack.items, stack.count);
	text_clear(packed);
	protobuf_varints(packed, w->path.items, w->path.len);
	size_t path_bytes = packed->len;
	protobuf_varint(packed, sample->count);
	bool runs = export_state(w->view->profile, sample) == PROFILE_STATE_RUNNING;
	for (uint32_t i = 1; i < w->value_count; i++)
		protobuf_varint(packed,
			i == w->value_of_event[sample->event] || (i == w->cpu_value && runs) ? sample->period : 0);
	if (packed->failed) {
		w->sink->failed = true;
		return;
	}
	size_t begin = protobuf_open(out), labels = w->label_begin[sample->thread];
	protobuf_bytes(out, SAMPLE_LOCATION, packed->data, path_bytes);
	protobuf_bytes(out, SAMPLE_VALUE, packed->data + path_bytes, packed->len - path_bytes);
	if (w->labels.len)
		text_bytes(out, w->labels.data + labels, w->label_begin[sample->thread + 1] - labels);
	if (!w->view->is_of_series) {
		/* In recordings with waits, a sample has the state of its thread, and the waker that ended the wait. */
		export_pprof_add_word(w, "state", export_state_name(w->view->profile, sample));
		export_pprof_add_word(w, "waker", export_waker(w->view->profile, sample));
	}
	protobuf_close(out, PROFILE_SAMPLE, begin);
	byte_sink_step(w->sink);
}

static void export_pprof_add_mapping(struct pprof *w, uint32_t index)
{
	const struct profile_binary *binary = &w->view->profile->binaries[index];
	struct text *out = &w->sink->text;
	if (w->limits[index] == 0)
		return;
	size_t begin = protobuf_open(out);
	protobuf_u64(out, MAPPING_ID, index + 1);
	/* Addresses are those in the file, because processes map it to different places. */
	protobuf_u64(out, MAPPING_START, 0);
	protobuf_u64(out, EXPORT_PPROF_MAPPING_LIMIT, w->limits[index]);
	protobuf_u64(out, EXPORT_PPROF_MAPPING_FILE, export_pprof_text_of(w, binary->long_name));
	if (profile_string(w->view->profile, binary->build_id).len > 0)
		protobuf_u64(out, EXPORT_PPROF_MAPPING_BUILD_ID, export_pprof_text_of(w, binary->build_id));
	protobuf_u64(out, MAPPING_FUNCTIONS, 1);
	if (w->has_lines[index]) {
		protobuf_u64(out, MAPPING_FILES, 1);
		protobuf_u64(out, MAPPING_LINES, 1);
	}
	if (w->has_inlines[index])
		protobuf_u64(out, MAPPING_INLINES, 1);
	protobuf_close(out, PROFILE_MAPPING, begin);
}

static void add_comment(struct pprof *w, const char *name, struct tally_str value)
{
	if (value.len == 0)
		return;
	text_clear(&w->room);
	text_printf(&w->room, "%s: ", name);
	text_bytes(&w->room, value.data, value.len);
	protobuf_u64(&w->sink->text, PROFILE_COMMENT,
		export_pprof_string_of(w, (struct tally_str){w->room.data, w->room.len}));
}

/* The time since 1970 is written only if the recording relates its clock to it. */
static void add_times(struct pprof *w)
{
	const struct export_view *view = w->view;
	if (!view->has_times)
		return;
	if (view->about.has_wall_clock)
		protobuf_u64(&w->sink->text, EXPORT_PPROF_PROFILE_TIME,
			view->first_time + (uint64_t)view->about.wall_clock_offset_ns);
	protobuf_u64(&w->sink->text, EXPORT_PPROF_PROFILE_DURATION, view->last_time - view->first_time);
}

static void export_pprof_add_about(struct pprof *w)
{
	const struct export_about *about = &w->view->about;
	add_times(w);
	add_comment(w, "recording", about->title);
	add_comment(w, "command", about->command);
	add_comment(w, "host", about->hostname);
	add_comment(w, "system", about->os);
	add_comment(w, "cpu", about->cpu);
	add_comment(w, "quality", about->quality);
	add_comment(w, "origin", about->origin.sentence);
}

static bool export_pprof_is_program(const struct profile *p, const struct profile_binary *binary)
{
	struct tally_str path = profile_string(p, binary->long_name);
	return !binary->is_kernel && path.len > 0 && path.data[0] == '/' && !memmem(path.data, path.len, ".so", 3);
}

/* profile.proto requires the main program to be first: the one with the most time. */
static uint32_t main_program(const struct pprof *w)
{
	const struct profile *p = w->view->profile;
	uint64_t *periods = calloc(p->binary_count + 1, sizeof(*periods));
	uint32_t found = PROFILE_NONE;
	w->sink->failed = w->sink->failed || !periods;
	for (size_t i = 0; periods && i < p->sample_count; i++) {
		if (i + SAMPLES_AHEAD < p->sample_count)
			__builtin_prefetch(&p->frames[p->samples[i + SAMPLES_AHEAD].leaf]);
		uint32_t binary = p->frames[p->samples[i].leaf].binary;
		if (binary != PROFILE_NONE && export_wants(w->view, &p->samples[i]))
			periods[binary] += p->samples[i].period;
	}
	for (uint32_t i = 0; periods && i < p->binary_count; i++)
		if (export_pprof_is_program(p, &p->binaries[i]) &&
			periods[i] > (found == PROFILE_NONE ? 0 : periods[found]))
			found = i;
	free(periods);
	return found;
}

static void add_mappings(struct pprof *w)
{
	uint32_t first = main_program(w);
	if (first != PROFILE_NONE)
		export_pprof_add_mapping(w, first);
	for (uint32_t i = 0; i < w->view->profile->binary_count; i++)
		if (i != first)
			export_pprof_add_mapping(w, i);
}

static bool export_pprof_prepare(struct pprof *w)
{
	const struct profile *p = w->view->profile;
	w->locations.words = 2;
	w->functions.words = 3;
	intern_init(&w->strings);
	(void)export_pprof_string_of(w, STR(""));
	w->limits = calloc(p->binary_count + 1, sizeof(*w->limits));
	w->has_lines = calloc(p->binary_count + 1, sizeof(*w->has_lines));
	w->has_inlines = calloc(p->binary_count + 1, sizeof(*w->has_inlines));
	w->location_of_frame = calloc(p->frame_count + 1, sizeof(*w->location_of_frame));
	w->named = calloc(p->function_count + 1, sizeof(*w->named));
	return w->limits && w->has_lines && w->has_inlines && w->location_of_frame && w->named && make_labels(w) &&
	       add_types(w);
}

void export_pprof(struct byte_sink *sink, const struct export_view *view)
{
	const struct profile *p = view->profile;
	struct pprof w = {.sink = sink, .view = view};
	bool is_ready = export_pprof_prepare(&w);
	sink->failed = sink->failed || !is_ready;
	for (size_t i = 0; is_ready && i < p->sample_count && !byte_sink_is_lost(sink); i++) {
		size_t ahead = i + SAMPLES_AHEAD;
		if (ahead < p->sample_count && p->samples[ahead].stack != PROFILE_NONE)
			__builtin_prefetch(profile_stack(p, p->samples[ahead].stack).items);
		if (export_wants(view, &p->samples[i]))
			export_pprof_add_sample(&w, &p->samples[i]);
	}
	if (is_ready) {
		add_mappings(&w);
		export_pprof_add_about(&w);
	}
	for (uint32_t i = 0; i < w.strings.len; i++) {
		protobuf_string(&sink->text, PROFILE_STRING, intern_get(&w.strings, i));
		byte_sink_step(sink);
	}
	intern_deinit(&w.strings);
	id_table_deinit(&w.locations);
	id_table_deinit(&w.functions);
	vec_free(&w.inlined);
	free(w.location_of_frame);
	free(w.named);
	free(w.label_begin);
	text_deinit(&w.labels);
	free(w.value_of_event);
	free(w.limits);
	free(w.has_lines);
	free(w.has_inlines);
	text_deinit(&w.room);
	text_deinit(&w.packed);
	vec_free(&w.path);
}
