/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/error.h"
#include "base/id_table.h"
#include "base/list_table.h"
#include "base/protobuf_writer.h"
#include "base/vec.h"
#include "fleet/batch.h"
#include "fleet/batch_format.h"
#include "fleet/batch_locations.h"

struct batch_write_sum {
	uint64_t count, value;
};

struct batch_writer {
	const struct fleet_batch *batch;
	const struct profile *p;
	const bool *leaves_out;
	struct text *out;
	struct intern strings;
	struct list_table locations; /* Lists of frames. */
	size_t frame_count; /* Number of frames of all locations. */
	struct list_table stacks; /* Lists of locations. */
	struct id_table paths; /* Pairs (leaf, stack) of the samples: leaf | stack << 32. */
	VEC(uint32_t) stack_of_path;
	/* Keys of two words, with the numbers of the format: event | thread << 32, and stack | state << 32. */
	struct id_table samples;
	VEC(struct batch_write_sum) sums; /* One per sample. */
	struct batch_locations found;
	VEC(uint32_t) path;
	bool failed; /* Memory ran out. */
};

/* Omits 0, which a reader assumes for a missing field. */
static void batch_write_number(struct batch_writer *w, unsigned field, uint64_t value)
{
	if (value)
		protobuf_u64(w->out, field, value);
}

static uint32_t batch_write_intern(struct batch_writer *w, struct tally_str text)
{
	uint32_t id = 0;
	w->failed = !intern_add(&w->strings, text.data, text.len, &id) || w->failed;
	return id;
}

static void batch_write_string(struct batch_writer *w, unsigned field, struct tally_str text)
{
	batch_write_number(w, field, batch_write_intern(w, text));
}

static void batch_write_labels(struct batch_writer *w, unsigned field, const struct fleet_labels *labels)
{
	for (size_t i = 0; i < labels->count; i++) {
		size_t begin = protobuf_open(w->out);
		batch_write_string(w, LABEL_NAME, labels->items[i].name);
		batch_write_string(w, LABEL_VALUE, labels->items[i].value);
		protobuf_close(w->out, field, begin);
	}
}

/* Set 0, which is empty, is not written; the other sets retain their numbers. */
static void batch_write_sets(struct batch_writer *w)
{
	for (size_t i = 1; i < w->batch->set_count; i++) {
		size_t begin = protobuf_open(w->out);
		batch_write_labels(w, LABEL_SET_LABEL, &w->batch->sets[i]);
		protobuf_close(w->out, BATCH_LABEL_SET, begin);
	}
}

static void batch_write_events(struct batch_writer *w)
{
	for (size_t i = 0; i < w->p->event_count; i++) {
		struct tally_str name = profile_string(w->p, w->p->events[i].name);
		size_t begin = protobuf_open(w->out);
		batch_write_string(w, EVENT_NAME, name);
		batch_write_number(w, EVENT_IS_WAITING, profile_event_is_waiting(name));
		batch_write_number(w, EVENT_IS_TIME, profile_event_is_time(name));
		batch_write_number(w, EVENT_HAS_CHAINS, w->p->events[i].has_callchain);
		protobuf_close(w->out, BATCH_EVENT, begin);
	}
}

static int batch_write_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Profiles have build IDs in hexadecimal. Returns the length in bytes, 0 if the text is invalid. */
static size_t batch_write_build_id(struct tally_str text, uint8_t id[BUILD_ID_BYTES])
{
	if (text.len % 2 || text.len / 2 > BUILD_ID_BYTES)
		return 0;
	for (size_t i = 0; i < text.len; i += 2) {
		int high = batch_write_digit(text.data[i]), low = batch_write_digit(text.data[i + 1]);
		if (high < 0 || low < 0)
			return 0;
		id[i / 2] = (uint8_t)(high << 4 | low);
	}
	return text.len / 2;
}

static void batch_write_binaries(struct batch_writer *w)
{
	for (size_t i = 0; i < w->p->binary_count; i++) {
		const struct profile_binary *binary = &w->p->binaries[i];
		uint8_t id[BUILD_ID_BYTES];
		size_t id_bytes = batch_write_build_id(profile_string(w->p, binary->build_id), id);
		size_t begin = protobuf_open(w->out);
		batch_write_string(w, BINARY_NAME, profile_string(w->p, binary->name));
		batch_write_string(w, BINARY_PATH, profile_string(w->p, binary->long_name));
		if (id_bytes)
			protobuf_bytes(w->out, BINARY_BUILD_ID, id, id_bytes);
		batch_write_number(w, BINARY_IS_KERNEL, binary->is_kernel);
		protobuf_close(w->out, BATCH_BINARY, begin);
	}
}

static void batch_write_threads(struct batch_writer *w)
{
	for (size_t i = 0; i < w->p->thread_count; i++) {
		const struct profile_thread *thread = &w->p->threads[i];
		size_t begin = protobuf_open(w->out);
		batch_write_number(w, THREAD_PID, (uint64_t)(int64_t)thread->pid);
		batch_write_number(w, THREAD_TID, (uint64_t)(int64_t)thread->tid);
		batch_write_string(w, THREAD_COMM, profile_string(w->p, thread->comm));
		batch_write_string(w, THREAD_PROCESS_COMM, profile_string(w->p, thread->process_comm));
		batch_write_number(w, THREAD_LABEL_SET, w->batch->set_of_thread[i]);
		protobuf_close(w->out, BATCH_THREAD, begin);
	}
}

static void batch_write_frame(struct batch_writer *w, const struct profile_frame *frame)
{
	const struct profile *p = w->p;
	const struct profile_function none = {.is_start = frame->is_start};
	bool has_symbol = frame->function != PROFILE_NONE;
	const struct profile_function *function = has_symbol ? &p->functions[frame->function] : &none;
	struct profile_line line = profile_frame_line(p, frame);
	if (!has_symbol && !function->is_start && line.file.len == 0)
		return;
	size_t begin = protobuf_open(w->out);
	if (has_symbol)
		batch_write_string(w, FRAME_FUNCTION, profile_string(p, function->name));
	batch_write_string(w, FRAME_FILE, line.file);
	batch_write_number(w, FRAME_LINE, (uint32_t)MIN(line.number, UINT32_MAX));
	batch_write_number(w, FRAME_START, function->start);
	batch_write_number(w, FRAME_SIZE, function->size);
	batch_write_number(w, FRAME_IS_START, function->is_start);
	protobuf_close(w->out, LOCATION_FRAME, begin);
}

static bool batch_write_leaves_out(const struct batch_writer *w, const struct batch_location *location)
{
	bool may_leave_out = w->leaves_out && batch_location_is_lasting(w->p, location);
	const bool *are_missing = w->batch->symbols_left_out;
	for (uint32_t i = 0; i < location->frame_count; i++) {
		uint32_t frame = location->frames[i];
		if (!(are_missing && are_missing[frame]) && !(may_leave_out && w->leaves_out[frame]))
			return false;
	}
	return true;
}

static void batch_write_location(struct batch_writer *w, const struct batch_location *location)
{
	static const uint8_t levels[] = BATCH_LEVELS;
	unsigned level = 0;
	while (level + 1 < ARRAY_LEN(levels) && levels[level] != location->level)
		level++;
	w->frame_count += location->frame_count;
	size_t begin = protobuf_open(w->out);
	if (location->binary != PROFILE_NONE)
		protobuf_u64(w->out, LOCATION_BINARY, (uint64_t)location->binary + 1);
	batch_write_number(w, LOCATION_ADDRESS, location->address);
	batch_write_number(w, LOCATION_LEVEL, levels[level] == location->level ? level : 0);
	if (batch_write_leaves_out(w, location))
		protobuf_u64(w->out, LOCATION_LEFT_OUT, 1);
	else
		for (uint32_t i = 0; i < location->frame_count; i++)
			batch_write_frame(w, &w->p->frames[location->frames[i]]);
	protobuf_close(w->out, BATCH_LOCATION, begin);
}

/* Adds a list to its table and returns whether it is new. */
static bool batch_write_add(
	struct batch_writer *w, struct list_table *table, const uint32_t *items, size_t count, uint32_t *id)
{
	size_t before = list_table_len(table);
	*id = list_table_add(table, items, count);
	w->failed = w->failed || *id == LIST_TABLE_NONE;
	return list_table_len(table) > before;
}

/* Returns the number of the sample's stack in the batch, and writes the stack and its locations if they are new. */
static uint32_t batch_write_stack(struct batch_writer *w, const struct profile_sample *sample)
{
	uint32_t stack;
	w->path.len = 0;
	if (!batch_locations_find(w->p, sample, &w->found) || !vec_reserve(&w->path, w->found.list.len)) {
		w->failed = true;
		return 0;
	}
	for (size_t i = 0; i < w->found.list.len; i++) {
		const struct batch_location *location = &w->found.list.items[i];
		uint32_t id;
		if (batch_write_add(w, &w->locations, location->frames, location->frame_count, &id))
			batch_write_location(w, location);
		w->path.items[w->path.len++] = id;
	}
	if (batch_write_add(w, &w->stacks, w->path.items, w->path.len, &stack)) {
		size_t begin = protobuf_open(w->out), packed = protobuf_open(w->out);
		protobuf_varints(w->out, w->path.items, w->path.len);
		protobuf_close(w->out, STACK_LOCATION, packed);
		protobuf_close(w->out, BATCH_STACK, begin);
	}
	return stack;
}

static uint32_t batch_write_stack_of(struct batch_writer *w, const struct profile_sample *sample)
{
	bool is_new;
	uint32_t path =
		id_table_add(&w->paths, (const uint64_t[]){sample->leaf | (uint64_t)sample->stack << 32}, &is_new);
	if (path == ID_TABLE_NONE || (is_new && !vec_push(&w->stack_of_path, 0))) {
		w->failed = true;
		return 0;
	}
	if (is_new)
		w->stack_of_path.items[path] = batch_write_stack(w, sample);
	return w->stack_of_path.items[path];
}

static void batch_write_sum(struct batch_writer *w, const struct profile_sample *sample)
{
	const struct profile_value *state = profile_facet(w->p, sample->facets, FACET_STATE);
	uint64_t state_number = state && state->number < PROFILE_STATES ? state->number + 1 : 0;
	uint64_t stack = (uint64_t)batch_write_stack_of(w, sample) + 1;
	const uint64_t key[] = {sample->event | (uint64_t)sample->thread << 32, stack | state_number << 32};
	bool is_new;
	uint32_t id = id_table_add(&w->samples, key, &is_new);
	if (id == ID_TABLE_NONE || (is_new && !vec_push(&w->sums, ((struct batch_write_sum){0, 0})))) {
		w->failed = true;
		return;
	}
	w->sums.items[id].count += sample->count;
	w->sums.items[id].value += sample->period;
}

static void batch_write_samples(struct batch_writer *w)
{
	for (size_t i = 0; i < w->p->sample_count && !w->failed; i++)
		batch_write_sum(w, &w->p->samples[i]);
	for (uint32_t i = 0; i < w->sums.len && !w->failed; i++) {
		const uint64_t *key = id_table_key(&w->samples, i);
		size_t begin = protobuf_open(w->out);
		batch_write_number(w, SAMPLE_EVENT, (uint32_t)key[0]);
		batch_write_number(w, SAMPLE_THREAD, key[0] >> 32);
		batch_write_number(w, SAMPLE_STACK, (uint32_t)key[1]);
		batch_write_number(w, SAMPLE_STATE, key[1] >> 32);
		batch_write_number(w, SAMPLE_COUNT, w->sums.items[i].count);
		batch_write_number(w, SAMPLE_VALUE, w->sums.items[i].value);
		protobuf_close(w->out, BATCH_SAMPLE, begin);
	}
}

static void batch_write_losses(struct batch_writer *w)
{
	const struct fleet_losses *losses = &w->batch->losses;
	size_t begin = protobuf_open(w->out);
	batch_write_number(w, LOSSES_LOST_SAMPLES, losses->lost_samples);
	batch_write_number(w, LOSSES_DROPPED_BATCHES, losses->dropped_batches);
	batch_write_number(w, LOSSES_DROPPED_SAMPLES, losses->dropped_samples);
	batch_write_number(w, LOSSES_OWN_CPU, losses->own_cpu_ns);
	batch_write_number(w, LOSSES_OWN_BYTES, losses->own_bytes);
	batch_write_number(w, LOSSES_FREQUENCY, losses->frequency_hz);
	batch_write_number(w, LOSSES_WINDOWS, losses->windows);
	batch_write_number(w, LOSSES_WAIT_WINDOWS, losses->wait_windows);
	protobuf_close(w->out, BATCH_LOSSES, begin);
}

static enum tally_status batch_write_check(const struct batch_writer *w, size_t before, struct tally_error *err)
{
	const struct {
		size_t count, most;
		const char *what;
	} limits[] = {
		{w->strings.len, FLEET_ITEMS, "strings"},
		{w->batch->set_count, FLEET_ITEMS, "label sets"},
		{w->p->event_count, FLEET_EVENTS, "events"},
		{w->p->binary_count, FLEET_ITEMS, "binaries"},
		{w->p->thread_count, FLEET_ITEMS, "threads"},
		{list_table_len(&w->locations), FLEET_ITEMS, "locations"},
		{w->frame_count, FLEET_FRAMES, "frames of locations"},
		{list_table_len(&w->stacks), FLEET_ITEMS, "stacks"},
		{w->sums.len, FLEET_SAMPLES, "different samples"},
		{w->out->len - before, FLEET_BATCH_BYTES, "bytes"},
	};
	if (w->failed || w->out->failed)
		return error_nomem(err);
	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		if (limits[i].count > limits[i].most)
			return error_set(err, TALLY_LIMIT,
				"the batch has %zu %s, and the limit is %zu: use a shorter window or a lower frequency",
				limits[i].count, limits[i].what, limits[i].most);
	return TALLY_OK;
}

enum tally_status fleet_batch_write(
	const struct fleet_batch *batch, const bool *leaves_out, struct text *out, struct tally_error *err)
{
	struct batch_writer w = {.batch = batch, .p = batch->profile, .leaves_out = leaves_out, .out = out};
	size_t before = out->len;
	w.paths.words = 1;
	w.samples.words = 2;
	intern_init(&w.strings);
	(void)batch_write_intern(&w, STR(""));
	protobuf_bytes(out, BATCH_ID, batch->id, sizeof(batch->id));
	batch_write_number(&w, BATCH_BEGIN, batch->begin_ns);
	batch_write_number(&w, BATCH_END, batch->end_ns);
	batch_write_labels(&w, BATCH_LABEL, &batch->labels);
	batch_write_sets(&w);
	batch_write_events(&w);
	batch_write_binaries(&w);
	batch_write_threads(&w);
	batch_write_samples(&w);
	batch_write_losses(&w);
	for (uint32_t i = 0; i < w.strings.len; i++)
		protobuf_string(out, BATCH_STRING, intern_get(&w.strings, i));
	enum tally_status status = batch_write_check(&w, before, err);
	if (status != TALLY_OK)
		out->len = before;
	intern_deinit(&w.strings);
	list_table_deinit(&w.locations);
	list_table_deinit(&w.stacks);
	id_table_deinit(&w.paths);
	id_table_deinit(&w.samples);
	vec_free(&w.stack_of_path);
	vec_free(&w.sums);
	vec_free(&w.found.list);
	vec_free(&w.path);
	return status;
}
