/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile_builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/key_sort.h"
#include "base/order.h"
#include "base/spool_sort.h"
#include "base/vec.h"
#include "profile/profile_builder_state.h"

#define FACET_WORDS 2 /* Words per facet: number, text | frame << 32. */

static uint64_t profile_builder_word(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

struct profile_builder *profile_builder_create(void)
{
	struct profile_builder *b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	intern_init(&b->strings);
	spool_init(&b->rows);
	b->binary_ids.words = 3;
	b->function_ids.words = 4;
	b->thread_ids.words = 3;
	b->sample_ids.words = PROFILE_SAMPLE_WORDS;
	return b;
}

void profile_builder_destroy(struct profile_builder *b)
{
	if (!b)
		return;
	intern_deinit(&b->strings);
	id_table_deinit(&b->binary_ids);
	id_table_deinit(&b->function_ids);
	id_table_deinit(&b->thread_ids);
	id_table_deinit(&b->sample_ids);
	id_table_deinit(&b->facet_ids);
	vec_free(&b->events);
	vec_free(&b->binaries);
	vec_free(&b->functions);
	frame_table_deinit(&b->frames);
	list_table_deinit(&b->stacks);
	vec_free(&b->threads);
	vec_free(&b->samples);
	vec_free(&b->fields);
	spool_deinit(&b->rows);
	free(b);
}

void profile_builder_expect_rows(struct profile_builder *b, size_t count)
{
	spool_expect(&b->rows, count * sizeof(struct profile_row));
}

uint32_t profile_builder_string(struct profile_builder *b, struct tally_str text)
{
	uint32_t id;
	if (intern_add(&b->strings, text.data, text.len, &id))
		return id;
	b->is_out_of_memory = true;
	return PROFILE_NONE;
}

/* Sets has_bad_id unless id is below count, or is PROFILE_NONE where the field allows that. */
static void check_id(struct profile_builder *b, uint32_t id, size_t count, bool may_be_none)
{
	if (id >= count && !(may_be_none && id == PROFILE_NONE))
		b->has_bad_id = true;
}

/* Adds item to the vec under the key's ID, unless the key exists already. The value of the macro is the ID. */
#define ADD_ONCE(b, table, vec, item, ...)                                                 \
	__extension__({                                                                    \
		bool was_new;                                                              \
		uint32_t new_id = PROFILE_NONE;                                            \
		if (vec_reserve(vec, (vec)->len + 1))                                      \
			new_id = id_table_add(table, (uint64_t[]){__VA_ARGS__}, &was_new); \
		if (new_id == PROFILE_NONE)                                                \
			(b)->is_out_of_memory = true;                                      \
		else if (was_new)                                                          \
			(vec)->items[(vec)->len++] = (item);                               \
		new_id;                                                                    \
	})

void profile_builder_keep_facets(struct profile_builder *b, uint64_t facets)
{
	b->facets = facets;
	b->facet_ids.words = FACET_WORDS * (unsigned)__builtin_popcountll(facets);
}

void profile_builder_field(struct profile_builder *b, const struct profile_field *field)
{
	check_id(b, field->name, b->strings.len, false);
	if (!vec_push(&b->fields, *field))
		b->is_out_of_memory = true;
}

uint32_t profile_builder_facets(struct profile_builder *b, const struct profile_value *values)
{
	unsigned width = b->facet_ids.words / FACET_WORDS;
	uint64_t words[FACET_WORDS * PROFILE_MAX_FACETS];
	for (unsigned i = 0; i < width; i++) {
		check_id(b, values[i].text, b->strings.len, true);
		check_id(b, values[i].frame, b->frames.frames.len, true);
		words[FACET_WORDS * i] = values[i].number;
		words[FACET_WORDS * i + 1] = profile_builder_word(values[i].text, values[i].frame);
	}
	uint32_t id = width ? id_table_add(&b->facet_ids, words, NULL) : 0;
	b->is_out_of_memory = b->is_out_of_memory || id == ID_TABLE_NONE;
	return id;
}

uint32_t profile_builder_event(struct profile_builder *b, const struct profile_event *event)
{
	check_id(b, event->name, b->strings.len, false);
	if (!vec_push(&b->events, *event)) {
		b->is_out_of_memory = true;
		return PROFILE_NONE;
	}
	return (uint32_t)b->events.len - 1;
}

uint32_t profile_builder_binary(struct profile_builder *b, const struct profile_binary *binary)
{
	check_id(b, binary->name, b->strings.len, false);
	check_id(b, binary->long_name, b->strings.len, false);
	check_id(b, binary->build_id, b->strings.len, false);
	return ADD_ONCE(b, &b->binary_ids, &b->binaries, *binary, profile_builder_word(binary->name, binary->long_name),
		binary->is_kernel, binary->build_id);
}

uint32_t profile_builder_function(struct profile_builder *b, const struct profile_function *function)
{
	check_id(b, function->name, b->strings.len, false);
	check_id(b, function->binary, b->binaries.len, true);
	return ADD_ONCE(b, &b->function_ids, &b->functions, *function,
		profile_builder_word(function->name, function->binary), function->start, function->size,
		function->is_inlined);
}

uint32_t profile_builder_frame(struct profile_builder *b, const struct profile_frame *frame)
{
	uint32_t id = PROFILE_NONE;
	check_id(b, frame->function, b->functions.len, true);
	check_id(b, frame->binary, b->binaries.len, true);
	b->has_guests = b->has_guests || profile_frame_is_guest(frame);
	if (!frame_table_add(&b->frames, frame, &id))
		b->is_out_of_memory = true;
	return id;
}

uint32_t profile_builder_stack(struct profile_builder *b, const uint32_t *frames, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_id(b, frames[i], b->frames.frames.len, false);
	b->has_bad_id = b->has_bad_id || b->is_complete;
	uint32_t id = list_table_add(&b->stacks, frames, count);
	b->is_out_of_memory = b->is_out_of_memory || id == LIST_TABLE_NONE;
	return id;
}

uint32_t profile_builder_thread(struct profile_builder *b, const struct profile_thread *thread)
{
	check_id(b, thread->comm, b->strings.len, false);
	check_id(b, thread->last_comm, b->strings.len, false);
	check_id(b, thread->process_comm, b->strings.len, false);
	return ADD_ONCE(b, &b->thread_ids, &b->threads, *thread,
		profile_builder_word((uint32_t)thread->pid, (uint32_t)thread->tid),
		profile_builder_word(thread->comm, thread->last_comm),
		profile_builder_word(thread->process_comm, thread->label_set));
}

bool profile_builder_sample_is_valid(const struct profile_builder *b, const struct profile_sample *sample)
{
	return sample->event < b->events.len && sample->thread < b->threads.len &&
	       sample->leaf < b->frames.frames.len &&
	       (sample->stack < list_table_len(&b->stacks) || sample->stack == PROFILE_NONE) &&
	       (!b->facets || sample->facets < b->facet_ids.len);
}

uint32_t profile_builder_sample(struct profile_builder *b, const struct profile_sample *sample)
{
	const uint64_t key[PROFILE_SAMPLE_WORDS] = {profile_builder_word(sample->event, sample->thread),
		profile_builder_word(sample->leaf, sample->stack),
		profile_builder_word((uint32_t)sample->cpu, sample->facets)};
	bool is_new;
	if (b->is_complete || !profile_builder_sample_is_valid(b, sample)) {
		b->has_bad_id = true;
		return PROFILE_NONE;
	}
	uint32_t id = vec_reserve(&b->samples, b->samples.len + 1) ? id_table_add(&b->sample_ids, key, &is_new)
								   : ID_TABLE_NONE;
	if (id == ID_TABLE_NONE) {
		b->is_out_of_memory = true;
		return PROFILE_NONE;
	}
	struct profile_event *event = &b->events.items[sample->event];
	event->sample_count += sample->count;
	event->total_period += sample->period;
	struct profile_sample *merged = &b->samples.items[id];
	if (is_new) {
		*merged = *sample;
		b->samples.len++;
		return id;
	}
	merged->count += sample->count;
	merged->period += sample->period;
	if (sample->first_order < merged->first_order) {
		merged->first_order = sample->first_order;
		merged->first_tid = sample->first_tid;
	}
	return id;
}

void profile_builder_row(struct profile_builder *b, const struct profile_row *row)
{
	check_id(b, row->sample, b->samples.len, false);
	if (!spool_append(&b->rows, row, sizeof(*row)))
		b->is_out_of_memory = true;
}

static uint64_t profile_builder_event_of(const void *sample)
{
	return ((const struct profile_sample *)sample)->event;
}

static uint64_t order_of(const void *sample)
{
	return ((const struct profile_sample *)sample)->first_order;
}

/* Keys for sorting samples; the first one is not needed if there is only one event. */
static const key_of_item sample_keys[] = {profile_builder_event_of, order_of};
#define SAMPLE_KEYS (ARRAY_LEN(sample_keys))

static size_t idle_keys(const struct profile_builder *b)
{
	return b->events.len == 1;
}

static int profile_builder_compare_rows(const void *left, const void *right)
{
	const struct profile_row *a = left, *b = right;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->sample != b->sample)
		return a->sample < b->sample ? -1 : 1;
	return COMPARE(a->period, b->period);
}

/* Sorts samples and renumbers them in the rows. */
static bool sort_named_samples(struct profile_builder *b)
{
	size_t count = b->samples.len, idle = idle_keys(b);
	struct sort_key *order = key_sort_order(
		b->samples.items, count, sizeof(*b->samples.items), sample_keys + idle, SAMPLE_KEYS - idle);
	uint32_t *moved = malloc((count + 1) * sizeof(*moved));
	bool is_done = order && moved;
	for (size_t i = 0; is_done && i < count; i++)
		moved[order[i].index] = (uint32_t)i;
	is_done = is_done && key_sort_move(b->samples.items, count, sizeof(*b->samples.items), order);
	free(order);
	struct profile_row *rows = (struct profile_row *)(void *)b->rows.base;
	for (size_t i = 0; is_done && i < b->rows.len / sizeof(*rows); i++) {
		rows[i].sample = moved[rows[i].sample];
		spool_walk(&b->rows, i, sizeof(*rows));
	}
	free(moved);
	return is_done;
}

/* Returns false if out of memory. */
static bool sort_samples(struct profile_builder *b)
{
	size_t idle = idle_keys(b);
	if (b->is_complete)
		return true;
	if (b->rows.len > 0)
		return sort_named_samples(b);
	return key_sort_items(
		b->samples.items, b->samples.len, sizeof(*b->samples.items), sample_keys + idle, SAMPLE_KEYS - idle);
}

/* Moves an array to the profile, which frees it. */
#define MOVE_ARRAY(profile, vec, field, count_field)                                                \
	((profile)->count_field = (vec)->len, (profile)->field = (vec)->items, (vec)->items = NULL, \
		(vec)->len = (vec)->cap = 0)

static bool fill_facets(struct profile_builder *b, struct profile *p)
{
	p->facets = b->facets;
	for (unsigned facet = 0; facet < PROFILE_MAX_FACETS; facet++)
		if (b->facets >> facet & 1)
			p->facet_columns[facet] = (uint8_t)p->facet_width++;
	p->facet_rows = b->facet_ids.len;
	if (!p->facet_rows || !p->facet_width)
		return true;
	p->values = arena_array(p->arena, struct profile_value, p->facet_rows * p->facet_width);
	for (size_t i = 0; p->values && i < p->facet_rows * p->facet_width; i++) {
		const uint64_t *words = b->facet_ids.keys + FACET_WORDS * i;
		p->values[i] = (struct profile_value){words[0], (uint32_t)words[1], (uint32_t)(words[1] >> 32)};
	}
	return p->values != NULL;
}

static bool fill_profile(struct profile_builder *b, struct profile *p)
{
	if (!sort_samples(b) ||
		(b->rows.len > 0 && !spool_sort(&b->rows, sizeof(struct profile_row), profile_builder_compare_rows)))
		return false;
	p->has_guests = b->has_guests;
	MOVE_ARRAY(p, &b->events, events, event_count);
	MOVE_ARRAY(p, &b->binaries, binaries, binary_count);
	MOVE_ARRAY(p, &b->functions, functions, function_count);
	MOVE_ARRAY(p, &b->frames.frames, frames, frame_count);
	MOVE_ARRAY(p, &b->threads, threads, thread_count);
	MOVE_ARRAY(p, &b->samples, samples, sample_count);
	MOVE_ARRAY(p, &b->fields, fields, field_count);
	return fill_facets(b, p);
}

enum tally_status profile_builder_finish(struct profile_builder *b, struct profile **profile, struct tally_error *err)
{
	if (b->is_out_of_memory) {
		profile_builder_destroy(b);
		return error_nomem(err);
	}
	if (b->has_bad_id) {
		profile_builder_destroy(b);
		return error_set(
			err, TALLY_INVALID, "a profile refers to a string, frame or stack that it does not have");
	}
	struct profile *p = calloc(1, sizeof(*p));
	struct arena *arena = malloc(sizeof(*arena));
	if (!p || !arena) {
		free(p);
		free(arena);
		profile_builder_destroy(b);
		return error_nomem(err);
	}
	arena_init(arena);
	spool_init(&p->row_spool);
	p->arena = arena;
	bool is_filled = fill_profile(b, p);
	p->strings = b->strings;
	intern_init(&b->strings);
	p->stacks = b->stacks;
	b->stacks = (struct list_table){0};
	p->row_spool = b->rows;
	p->rows = (struct profile_row *)(void *)b->rows.base;
	p->row_count = b->rows.len / sizeof(*p->rows);
	spool_init(&b->rows);
	profile_builder_destroy(b);
	if (!is_filled) {
		profile_destroy(p);
		return error_nomem(err);
	}
	*profile = p;
	return TALLY_OK;
}
