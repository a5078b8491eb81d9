/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_rows.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/id_table.h"
#include "base/map_u64.h"
#include "base/order.h"
#include "fleet/batch_locations.h"
#include "store/content_id.h"

struct store_rows_maker {
	struct store_rows *rows;
	const struct profile *profile;
	uint32_t *binaries; /* Index of each binary of the profile; STORE_NONE if it is not made yet. */
	uint32_t *threads; /* Index of each thread of the profile in the rows' threads. */
	struct map_u64 locations, stacks, threads_by_id, binaries_by_id; /* Map IDs to indexes. */
	struct map_u64 frames; /* Maps the first and the last frame of a location to its index. */
	struct map_u64 chains; /* Maps leaf and stack of a sample to the index of the stack, or to STORE_NONE. */
	struct id_table parts, samples;
	struct batch_locations found;
};

/* Returns the text itself if it is UTF-8 without NUL, and otherwise a copy with U+FFFD. */
static bool store_rows_text(struct store_rows_maker *m, uint32_t string, struct tally_str *to)
{
	struct tally_str s = profile_string(m->profile, string);
	size_t at = 0;
	while (at < s.len) {
		uint8_t byte = (uint8_t)s.data[at];
		size_t len = byte && byte < 0x80 ? 1 : utf8_bytes((const uint8_t *)s.data + at, s.len - at);
		if (len == 0)
			break;
		at += len;
	}
	*to = s;
	if (at == s.len)
		return true;
	struct text text = {0};
	text_utf8(&text, s);
	const char *copy = text.failed ? NULL : arena_string(&m->rows->arena, text.data, text.len);
	*to = (struct tally_str){copy, text.len};
	text_deinit(&text);
	return copy != NULL;
}

uint64_t store_labels_id(const struct fleet_labels *labels)
{
	struct content_id c = content_id_begin(CONTENT_LABELS);
	for (size_t i = 0; i < labels->count; i++) {
		content_id_text(&c, labels->items[i].name);
		content_id_text(&c, labels->items[i].value);
	}
	return labels->count ? content_id_end(&c) : 0;
}

static bool store_rows_add_set(struct store_rows *rows, const struct fleet_labels *labels)
{
	return vec_push(&rows->sets, ((struct store_set){store_labels_id(labels), *labels}));
}

static bool store_rows_add_sets(struct store_rows *rows)
{
	bool ok = store_rows_add_set(rows, &rows->batch->labels);
	for (size_t i = 0; ok && i < rows->batch->set_count; i++)
		ok = store_rows_add_set(rows, &rows->batch->sets[i]);
	return ok;
}

static bool store_rows_add_events(struct store_rows_maker *m)
{
	for (size_t i = 0; i < m->profile->event_count; i++) {
		struct store_event event;
		if (!store_rows_text(m, m->profile->events[i].name, &event.name))
			return false;
		event.is_time = profile_event_is_time(event.name);
		event.is_waiting = profile_event_is_waiting(event.name);
		if (!vec_push(&m->rows->events, event))
			return false;
	}
	return true;
}

static uint64_t store_rows_binary_id(const struct store_binary *binary)
{
	struct content_id c = content_id_begin(CONTENT_BINARY);
	content_id_text(&c, binary->build_id);
	content_id_text(&c, binary->build_id.len ? STR("") : binary->path);
	content_id_text(&c, binary->build_id.len ? STR("") : binary->name);
	content_id_number(&c, binary->is_kernel);
	return content_id_end(&c);
}

/* Finds the index of the item with this ID; the caller must push the item if it is new. False if memory allocation
 * fails. */
static bool store_rows_find(struct map_u64 *map, uint64_t id, size_t len, uint32_t *index, bool *is_new)
{
	uint64_t *slot = map_u64_at(map, id, is_new);
	if (!slot || len >= STORE_NONE)
		return false;
	if (*is_new)
		*slot = len;
	*index = (uint32_t)*slot;
	return true;
}

static bool store_rows_add_binary(struct store_rows_maker *m, uint32_t from, uint32_t *index)
{
	bool is_new = false;
	*index = STORE_NONE;
	if (from == PROFILE_NONE)
		return true;
	*index = m->binaries[from];
	if (*index != STORE_NONE)
		return true;
	const struct profile_binary *binary = &m->profile->binaries[from];
	struct store_binary to = {.is_kernel = binary->is_kernel};
	if (!store_rows_text(m, binary->name, &to.name) || !store_rows_text(m, binary->long_name, &to.path) ||
		!store_rows_text(m, binary->build_id, &to.build_id))
		return false;
	to.id = store_rows_binary_id(&to);
	if (!store_rows_find(&m->binaries_by_id, to.id, m->rows->binaries.len, index, &is_new) ||
		(is_new && !vec_push(&m->rows->binaries, to)))
		return false;
	m->binaries[from] = *index;
	return true;
}

/* A frame without a symbol may have a line. */
static bool store_rows_add_frame(struct store_rows_maker *m, uint32_t from)
{
	static const struct profile_function none;
	const struct profile_frame *frame = &m->profile->frames[from];
	const struct profile_function *function =
		frame->function == PROFILE_NONE ? &none : &m->profile->functions[frame->function];
	struct profile_line line = profile_frame_line(m->profile, frame);
	struct store_frame to = {.line = (uint32_t)MIN(line.number, UINT32_MAX),
		.start = function->is_inlined ? 0 : function->start,
		.size = function->is_inlined ? 0 : function->size,
		.is_start = function->is_start || frame->is_start};
	if (frame->function == PROFILE_NONE && line.file.len == 0 && !frame->is_start)
		return true;
	to.function = STR("");
	return (frame->function == PROFILE_NONE || store_rows_text(m, function->name, &to.function)) &&
	       (line.file.len == 0 || store_rows_text(m, frame->own_line.file, &to.file)) &&
	       vec_push(&m->rows->frames, to);
}

static bool store_rows_are_left_out(const struct store_rows *rows, const struct batch_location *from)
{
	for (uint32_t i = 0; rows->batch->symbols_left_out && i < from->frame_count; i++)
		if (rows->batch->symbols_left_out[from->frames[i]])
			return true;
	return false;
}

/* Without a build ID, or in a kernel (is_lasting is false), the symbols are part of the ID. If they are left out, no
 * stored location has this ID. */
static uint64_t store_rows_location_id(
	const struct store_rows *rows, const struct store_location *location, bool is_lasting)
{
	struct content_id c = content_id_begin(CONTENT_LOCATION);
	content_id_number(&c, location->binary == STORE_NONE ? 0 : rows->binaries.items[location->binary].id);
	content_id_number(&c, location->address);
	content_id_number(&c, location->level);
	if (is_lasting)
		return content_id_end(&c);
	content_id_number(&c, location->is_left_out ? UINT64_MAX : location->frame_count);
	for (size_t i = 0; i < location->frame_count; i++) {
		const struct store_frame *frame = &rows->frames.items[location->first_frame + i];
		content_id_text(&c, frame->function);
		content_id_text(&c, frame->file);
		content_id_number(&c, frame->line);
	}
	return content_id_end(&c);
}

static bool store_rows_make_location(struct store_rows_maker *m, const struct batch_location *from, uint32_t *index)
{
	struct store_rows *rows = m->rows;
	bool is_new = false;
	struct store_location to = {.address = from->address,
		.level = from->level,
		.first_frame = rows->frames.len,
		.is_left_out = store_rows_are_left_out(rows, from)};
	if (!store_rows_add_binary(m, from->binary, &to.binary))
		return false;
	for (uint32_t i = 0; !to.is_left_out && i < from->frame_count; i++)
		if (!store_rows_add_frame(m, from->frames[i]))
			return false;
	to.frame_count = rows->frames.len - to.first_frame;
	to.id = store_rows_location_id(rows, &to, batch_location_is_lasting(m->profile, from));
	if (!store_rows_find(&m->locations, to.id, rows->locations.len, index, &is_new) ||
		(is_new && !vec_push(&rows->locations, to)))
		return false;
	/* Of two equal locations, one may have symbols and the other none. */
	struct store_location *kept = &rows->locations.items[*index];
	if (!is_new && kept->frame_count == 0 && (to.frame_count > 0 || kept->is_left_out))
		*kept = to;
	else if (!is_new)
		rows->frames.len = to.first_frame;
	return true;
}

static bool store_rows_add_location(struct store_rows_maker *m, const struct batch_location *from, uint32_t *index)
{
	uint64_t key = from->frames[0] | (uint64_t)from->frames[from->frame_count - 1] << 32, known;
	if (map_u64_find(&m->frames, key, &known)) {
		*index = (uint32_t)known;
		return true;
	}
	return store_rows_make_location(m, from, index) && map_u64_set(&m->frames, key, *index);
}

static bool store_rows_make_stack(struct store_rows_maker *m, uint32_t *index)
{
	struct store_rows *rows = m->rows;
	struct content_id c = content_id_begin(CONTENT_STACK);
	struct store_stack stack = {.first = rows->stack_locations.len, .count = m->found.list.len};
	for (size_t i = 0; i < m->found.list.len; i++) {
		uint32_t location;
		if (!store_rows_add_location(m, &m->found.list.items[i], &location) ||
			!vec_push(&rows->stack_locations, location))
			return false;
		content_id_number(&c, rows->locations.items[location].id);
	}
	bool is_new = false;
	stack.id = content_id_end(&c);
	if (!store_rows_find(&m->stacks, stack.id, rows->stacks.len, index, &is_new))
		return false;
	if (is_new)
		return vec_push(&rows->stacks, stack);
	rows->stack_locations.len = stack.first;
	return true;
}

static bool store_rows_add_stack(struct store_rows_maker *m, const struct profile_sample *sample, uint32_t *index)
{
	uint64_t known;
	uint64_t key = sample->leaf | (uint64_t)sample->stack << 32;
	if (map_u64_find(&m->chains, key, &known)) {
		*index = (uint32_t)known;
		return true;
	}
	if (!batch_locations_find(m->profile, sample, &m->found))
		return false;
	*index = STORE_NONE;
	return (m->found.list.len == 0 || store_rows_make_stack(m, index)) && map_u64_set(&m->chains, key, *index);
}

static bool store_rows_add_thread(struct store_rows_maker *m, uint32_t from, uint32_t *index)
{
	bool is_new = false;
	*index = m->threads[from];
	if (*index != STORE_NONE)
		return true;
	const struct profile_thread *thread = &m->profile->threads[from];
	struct store_thread to = {.pid = thread->pid, .tid = thread->tid};
	if (!store_rows_text(m, thread->comm, &to.comm) || !store_rows_text(m, thread->process_comm, &to.process_comm))
		return false;
	struct content_id c = content_id_begin(CONTENT_THREAD);
	content_id_number(&c, (uint32_t)to.pid);
	content_id_number(&c, (uint32_t)to.tid);
	content_id_text(&c, to.comm);
	content_id_text(&c, to.process_comm);
	to.id = content_id_end(&c);
	if (!store_rows_find(&m->threads_by_id, to.id, m->rows->threads.len, index, &is_new) ||
		(is_new && !vec_push(&m->rows->threads, to)))
		return false;
	m->threads[from] = *index;
	return true;
}

static bool store_rows_add_part(struct store_rows_maker *m, uint32_t event, uint32_t set, uint32_t *index)
{
	/* The key contains the ID of the set, because sets may be equal. */
	bool is_new = false;
	*index = id_table_add(&m->parts, (uint64_t[]){event, m->rows->sets.items[set].id}, &is_new);
	return *index != ID_TABLE_NONE &&
	       (!is_new || vec_push(&m->rows->parts, ((struct store_part){.event = event, .set = set})));
}

static int store_rows_state(const struct profile *p, const struct profile_sample *sample)
{
	const struct profile_value *value = profile_facet(p, sample->facets, FACET_STATE);
	return value && value->number < PROFILE_STATES ? (int)value->number : STORE_STATE_UNKNOWN;
}

static bool store_rows_add_sample(struct store_rows_maker *m, const struct profile_sample *from)
{
	struct store_rows *rows = m->rows;
	bool is_new = false;
	struct store_sample to = {
		.state = store_rows_state(m->profile, from), .count = from->count, .value = from->period};
	if (!store_rows_add_part(m, from->event, 1 + rows->batch->set_of_thread[from->thread], &to.part) ||
		!store_rows_add_thread(m, from->thread, &to.thread) || !store_rows_add_stack(m, from, &to.stack))
		return false;
	uint32_t index = id_table_add(&m->samples,
		(uint64_t[]){to.part | (uint64_t)to.stack << 32, to.thread | (uint64_t)(uint32_t)to.state << 32},
		&is_new);
	if (index == ID_TABLE_NONE)
		return false;
	struct store_part *part = &rows->parts.items[to.part];
	const struct store_event *event = &rows->events.items[part->event];
	bool is_waiting = event->is_waiting || to.state > PROFILE_STATE_RUNNING;
	part->samples += to.count;
	if (event->is_time)
		*(is_waiting ? &part->waiting_ns : &part->running_ns) += to.value;
	if (is_new)
		return vec_push(&rows->samples, to);
	rows->samples.items[index].count += to.count;
	rows->samples.items[index].value += to.value;
	return true;
}

static int store_rows_compare(const void *left, const void *right)
{
	const struct store_sample *a = left, *b = right;
	if (a->part != b->part)
		return COMPARE(a->part, b->part);
	if (a->stack != b->stack)
		return COMPARE(a->stack, b->stack);
	return a->thread != b->thread ? COMPARE(a->thread, b->thread) : COMPARE(a->state, b->state);
}

static bool store_rows_fill(struct store_rows_maker *m)
{
	const struct profile *p = m->profile;
	m->parts.words = 2;
	m->samples.words = 2;
	m->binaries = malloc((p->binary_count + 1) * sizeof(*m->binaries));
	m->threads = malloc((p->thread_count + 1) * sizeof(*m->threads));
	bool ok = m->binaries && m->threads && store_rows_add_sets(m->rows) && store_rows_add_events(m);
	for (size_t i = 0; ok && i < p->binary_count; i++)
		m->binaries[i] = STORE_NONE;
	for (size_t i = 0; ok && i < p->thread_count; i++)
		m->threads[i] = STORE_NONE;
	for (size_t i = 0; ok && i < p->sample_count; i++)
		ok = store_rows_add_sample(m, &p->samples[i]);
	if (ok && m->rows->samples.len > 1)
		qsort(m->rows->samples.items, m->rows->samples.len, sizeof(*m->rows->samples.items),
			store_rows_compare);
	return ok;
}

static enum tally_status store_rows_check(const struct profile *p, uint64_t *samples, struct tally_error *err)
{
	uint64_t value = 0;
	*samples = 0;
	for (size_t i = 0; i < p->sample_count; i++)
		if (!checked_add(*samples, p->samples[i].count, samples) ||
			!checked_add(value, p->samples[i].period, &value) || *samples > INT64_MAX || value > INT64_MAX)
			return error_set(err, TALLY_INVALID,
				"the samples of the batch add up to more than 2^63, which a store cannot keep");
	return TALLY_OK;
}

enum tally_status store_rows_make(const struct fleet_batch *batch, struct store_rows *rows, struct tally_error *err)
{
	uint64_t samples;
	enum tally_status status = store_rows_check(batch->profile, &samples, err);
	if (status != TALLY_OK)
		return status;
	*rows = (struct store_rows){.batch = batch, .sample_count = samples};
	arena_init(&rows->arena);
	struct store_rows_maker m = {.rows = rows, .profile = batch->profile};
	bool ok = store_rows_fill(&m);
	free(m.binaries);
	free(m.threads);
	map_u64_deinit(&m.locations);
	map_u64_deinit(&m.stacks);
	map_u64_deinit(&m.threads_by_id);
	map_u64_deinit(&m.binaries_by_id);
	map_u64_deinit(&m.frames);
	map_u64_deinit(&m.chains);
	id_table_deinit(&m.parts);
	id_table_deinit(&m.samples);
	vec_free(&m.found.list);
	if (ok)
		return TALLY_OK;
	store_rows_deinit(rows);
	return error_nomem(err);
}

void store_rows_deinit(struct store_rows *rows)
{
	vec_free(&rows->sets);
	vec_free(&rows->events);
	vec_free(&rows->binaries);
	vec_free(&rows->locations);
	vec_free(&rows->frames);
	vec_free(&rows->stacks);
	vec_free(&rows->stack_locations);
	vec_free(&rows->threads);
	vec_free(&rows->parts);
	vec_free(&rows->samples);
	arena_deinit(&rows->arena);
}
