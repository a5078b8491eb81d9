#include "profile/profile_builder.h"
#include "base/error.h"
#include "base/id_table.h"
#include "base/key_sort.h"
#include "base/spool_sort.h"
#include "base/vec.h"
#include "profile/frame_table.h"

#include <stdlib.h>
#include <string.h>

#define FACET_WORDS  2 /* number, text | frame << 32 */
#define SAMPLE_WORDS 3
#define BATCH	     64

struct profile_builder {
	struct intern strings;
	struct id_table binary_ids, function_ids, thread_ids, sample_ids;
	VEC(struct profile_event) events;
	VEC(struct profile_binary) binaries;
	VEC(struct profile_function) functions;
	struct frame_table frames;
	struct list_table stacks; /* of frames */
	VEC(struct profile_thread) threads;
	VEC(struct profile_sample) samples;
	VEC(uint32_t) first_samples; /* by stack: the first one's id + 1; 0: none yet */
	VEC(uint32_t) hashed_samples; /* by id in sample_ids, which has those that are not the first of a stack */
	uint64_t facets; /* mask */
	VEC(struct profile_field) fields;
	struct id_table facet_ids; /* of FACET_WORDS for each value */
	struct spool rows; /* of struct profile_row */
	bool is_out_of_memory;
	bool has_bad_id; /* something refers to an id that was not handed out */
};

static uint64_t word(uint32_t low, uint32_t high)
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
	b->thread_ids.words = 2;
	b->sample_ids.words = SAMPLE_WORDS;
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
	vec_free(&b->first_samples);
	vec_free(&b->hashed_samples);
	vec_free(&b->fields);
	spool_deinit(&b->rows);
	free(b);
}

bool profile_builder_reserve(struct profile_builder *b, const struct profile_sizes *sizes)
{
	/* Of samples with stacks, most are the first of theirs. */
	size_t hashed = sizes->samples > sizes->stacks ? sizes->samples - sizes->stacks : 0;
	spool_expect(&b->rows, sizes->rows * sizeof(struct profile_row));
	return frame_table_reserve(&b->frames, sizes->frames) && vec_reserve(&b->samples, sizes->samples) &&
	       vec_reserve(&b->hashed_samples, hashed) && id_table_reserve(&b->sample_ids, hashed) &&
	       vec_reserve(&b->first_samples, sizes->stacks) &&
	       list_table_reserve(&b->stacks, sizes->stacks, sizes->stack_words);
}

uint32_t profile_builder_string(struct profile_builder *b, struct tally_str text)
{
	uint32_t id;
	if (intern_add(&b->strings, text.data, text.len, &id))
		return id;
	b->is_out_of_memory = true;
	return PROFILE_NONE;
}

/* True if id is one of count, or (where the field allows it) none. */
static void check_id(struct profile_builder *b, uint32_t id, size_t count, bool may_be_none)
{
	if (id >= count && !(may_be_none && id == PROFILE_NONE))
		b->has_bad_id = true;
}

/* Adds item to the vec under the key's id, unless the key is there already; the id is the value. */
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
		words[FACET_WORDS * i + 1] = word(values[i].text, values[i].frame);
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
	return ADD_ONCE(b, &b->binary_ids, &b->binaries, *binary, word(binary->name, binary->long_name),
		binary->is_kernel, binary->build_id);
}

uint32_t profile_builder_function(struct profile_builder *b, const struct profile_function *function)
{
	check_id(b, function->name, b->strings.len, false);
	check_id(b, function->binary, b->binaries.len, true);
	return ADD_ONCE(b, &b->function_ids, &b->functions, *function, word(function->name, function->binary),
		function->start, function->size, function->is_inlined);
}

void profile_builder_frames(struct profile_builder *b, const struct profile_frame *frames, size_t count, uint32_t *ids)
{
	for (size_t i = 0; i < count; i++) {
		check_id(b, frames[i].function, b->functions.len, true);
		check_id(b, frames[i].binary, b->binaries.len, true);
		ids[i] = PROFILE_NONE;
	}
	if (b->is_out_of_memory || !frame_table_add(&b->frames, frames, count, ids))
		b->is_out_of_memory = true;
}

uint32_t profile_builder_frame(struct profile_builder *b, const struct profile_frame *frame)
{
	uint32_t id;
	profile_builder_frames(b, frame, 1, &id);
	return id;
}

uint32_t profile_builder_stack(struct profile_builder *b, const uint32_t *frames, size_t count)
{
	const struct list list = {frames, (uint32_t)count};
	uint32_t id, hash = list_table_hash(frames, count);
	profile_builder_stacks(b, &(struct profile_stacks){&list, &hash, 1}, &id);
	return id;
}

static void check_stack(struct profile_builder *b, const struct list *stack)
{
	uint32_t highest = 0;
	for (uint32_t i = 0; i < stack->count; i++)
		highest = stack->items[i] > highest ? stack->items[i] : highest;
	if (stack->count)
		check_id(b, highest, b->frames.frames.len, false);
}

void profile_builder_stacks(struct profile_builder *b, const struct profile_stacks *stacks, uint32_t *ids)
{
	for (size_t first = 0; first < stacks->count; first += BATCH) {
		size_t end = first + BATCH < stacks->count ? first + BATCH : stacks->count;
		for (size_t i = first; i < end; i++) {
			check_stack(b, &stacks->lists[i]);
			list_table_expect(&b->stacks, stacks->hashes[i]);
		}
		for (size_t i = first; i < end; i++)
			list_table_guess(&b->stacks, stacks->hashes[i]);
		for (size_t i = first; i < end; i++) {
			const struct list *list = &stacks->lists[i];
			ids[i] = list_table_add_hashed(&b->stacks, list->items, list->count, stacks->hashes[i]);
			b->is_out_of_memory = b->is_out_of_memory || ids[i] == LIST_TABLE_NONE;
		}
	}
}

uint32_t profile_builder_thread(struct profile_builder *b, const struct profile_thread *thread)
{
	check_id(b, thread->comm, b->strings.len, false);
	check_id(b, thread->last_comm, b->strings.len, false);
	return ADD_ONCE(b, &b->thread_ids, &b->threads, *thread, word((uint32_t)thread->pid, (uint32_t)thread->tid),
		word(thread->comm, thread->last_comm));
}

static bool is_valid_sample(const struct profile_builder *b, const struct profile_sample *sample)
{
	return sample->event < b->events.len && sample->thread < b->threads.len &&
	       sample->leaf < b->frames.frames.len &&
	       (sample->stack < list_table_len(&b->stacks) || sample->stack == PROFILE_NONE) &&
	       (!b->facets || sample->facets < b->facet_ids.len);
}

static void merge_sample(struct profile_builder *b, const struct profile_sample *sample, uint32_t id)
{
	struct profile_sample *merged = &b->samples.items[id];
	merged->count += sample->count;
	merged->period += sample->period;
	if (sample->first_order < merged->first_order)
		merged->first_order = sample->first_order;
	struct profile_event *event = &b->events.items[sample->event];
	event->sample_count += sample->count;
	event->total_period += sample->period;
}

static bool is_same_sample(const struct profile_sample *a, const struct profile_sample *b)
{
	return a->event == b->event && a->thread == b->thread && a->leaf == b->leaf && a->stack == b->stack &&
	       a->cpu == b->cpu && a->facets == b->facets;
}

static uint32_t new_sample(struct profile_builder *b, const struct profile_sample *sample)
{
	struct profile_sample *first = &b->samples.items[b->samples.len];
	*first = *sample;
	first->count = first->period = 0;
	return (uint32_t)b->samples.len++;
}

static uint32_t *first_of_stack(const struct profile_builder *b, const struct profile_sample *sample)
{
	return sample->stack == PROFILE_NONE ? NULL : &b->first_samples.items[sample->stack];
}

/* Most stacks have one sample only: such are known by their stack, and only others are looked for by what they are. */
static uint32_t sample_id(
	struct profile_builder *b, const struct profile_sample *sample, const uint64_t *key, uint32_t hash)
{
	uint32_t *first = first_of_stack(b, sample);
	if (first && *first == 0)
		return (*first = new_sample(b, sample) + 1) - 1;
	if (first && is_same_sample(&b->samples.items[*first - 1], sample))
		return *first - 1;
	uint32_t id = id_table_add_hashed(&b->sample_ids, key, hash, NULL);
	if (id == ID_TABLE_NONE)
		return PROFILE_NONE;
	if (id == b->hashed_samples.len)
		b->hashed_samples.items[b->hashed_samples.len++] = new_sample(b, sample);
	return b->hashed_samples.items[id];
}

static bool make_room(struct profile_builder *b, size_t count)
{
	size_t stacks = list_table_len(&b->stacks), known = b->first_samples.len;
	if (!vec_reserve(&b->samples, b->samples.len + count) ||
		!vec_reserve(&b->hashed_samples, b->hashed_samples.len + count) ||
		!vec_reserve(&b->first_samples, stacks))
		return false;
	if (stacks > known)
		memset(b->first_samples.items + known, 0, (stacks - known) * sizeof(*b->first_samples.items));
	b->first_samples.len = stacks;
	return true;
}

static void add_samples(struct profile_builder *b, const struct profile_sample *samples, size_t count, uint32_t *ids)
{
	uint64_t keys[BATCH * SAMPLE_WORDS];
	uint32_t hashes[BATCH];
	for (size_t i = 0; i < count; i++)
		if (b->is_out_of_memory || !is_valid_sample(b, &samples[i])) {
			b->has_bad_id = true;
			return;
		}
	if (!make_room(b, count)) {
		b->is_out_of_memory = true;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const struct profile_sample *sample = &samples[i];
		uint64_t *key = keys + i * SAMPLE_WORDS;
		key[0] = word(sample->event, sample->thread);
		key[1] = word(sample->leaf, sample->stack);
		key[2] = word((uint32_t)sample->cpu, sample->facets);
		hashes[i] = id_table_hash(&b->sample_ids, key);
		uint32_t *first = first_of_stack(b, sample);
		if (first && *first)
			__builtin_prefetch(&b->samples.items[*first - 1]);
		if (!first || *first)
			id_table_expect(&b->sample_ids, hashes[i]);
	}
	for (size_t i = 0; i < count; i++) {
		const uint32_t *first = first_of_stack(b, &samples[i]);
		if (!first || *first)
			(void)id_table_guess(&b->sample_ids, hashes[i]);
	}
	for (size_t i = 0; i < count && !b->is_out_of_memory; i++) {
		ids[i] = sample_id(b, &samples[i], keys + i * SAMPLE_WORDS, hashes[i]);
		if (ids[i] == PROFILE_NONE)
			b->is_out_of_memory = true;
		else
			merge_sample(b, &samples[i], ids[i]);
	}
}

void profile_builder_samples(
	struct profile_builder *b, const struct profile_sample *samples, size_t count, uint32_t *ids)
{
	uint32_t unused[BATCH];
	for (size_t i = 0; i < count; i += BATCH)
		add_samples(b, samples + i, count - i < BATCH ? count - i : BATCH, ids ? ids + i : unused);
}

void profile_builder_sample(struct profile_builder *b, const struct profile_sample *sample)
{
	uint32_t id;
	add_samples(b, sample, 1, &id);
}

void profile_builder_row(struct profile_builder *b, const struct profile_row *row)
{
	check_id(b, row->sample, b->samples.len, false);
	if (!spool_append(&b->rows, row, sizeof(*row)))
		b->is_out_of_memory = true;
}

static uint64_t event_of(const void *sample)
{
	return ((const struct profile_sample *)sample)->event;
}

static uint64_t order_of(const void *sample)
{
	return ((const struct profile_sample *)sample)->first_order;
}

/* What samples are sorted by. */
static const key_of_item sample_keys[] = {event_of, order_of};
#define SAMPLE_KEYS (sizeof(sample_keys) / sizeof(sample_keys[0]))

static int compare_rows(const void *left, const void *right)
{
	const struct profile_row *a = left, *b = right;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->sample != b->sample)
		return a->sample < b->sample ? -1 : 1;
	return a->period < b->period ? -1 : a->period > b->period;
}

static void rename_samples(const struct spool *spool, const uint32_t *moved)
{
	struct profile_row *rows = (struct profile_row *)(void *)spool->base;
	for (size_t i = 0; i < spool->len / sizeof(*rows); i++) {
		rows[i].sample = moved[rows[i].sample];
		spool_walk(spool, i, sizeof(*rows));
	}
}

/* As sort_samples, and rows go on to name the samples they did. */
static bool sort_with_rows(struct profile_builder *b)
{
	size_t count = b->samples.len;
	struct sort_key *order =
		key_sort_order(b->samples.items, count, sizeof(*b->samples.items), sample_keys, SAMPLE_KEYS);
	uint32_t *moved = malloc((count + 1) * sizeof(*moved));
	bool is_done = order && moved;
	for (size_t i = 0; is_done && i < count; i++)
		moved[order[i].index] = (uint32_t)i;
	is_done = is_done && key_sort_move(b->samples.items, count, sizeof(*b->samples.items), order);
	free(order);
	if (is_done) {
		rename_samples(&b->rows, moved);
		is_done = spool_sort(&b->rows, sizeof(struct profile_row), compare_rows);
	}
	free(moved);
	return is_done;
}

/* False: out of memory. */
static bool sort_samples(struct profile_builder *b)
{
	return key_sort_items(b->samples.items, b->samples.len, sizeof(*b->samples.items), sample_keys, SAMPLE_KEYS);
}

/* The profile takes over what was collected; it frees it with the arrays. */
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
	if (!(b->rows.len == 0 ? sort_samples(b) : sort_with_rows(b)))
		return false;
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
