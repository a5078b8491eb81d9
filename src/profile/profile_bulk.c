/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile_bulk.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/atomic_least.h"
#include "base/buckets.h"
#include "base/key_sort.h"
#include "base/thread_pool.h"
#include "profile/profile_builder_state.h"

#define TASK_ITEMS	   8192
#define PROFILE_BULK_AHEAD 8 /* Number of samples by which prefetching runs ahead. */

/* Workers share the flag. */
static void set_flag(bool *flag)
{
	__atomic_store_n(flag, true, __ATOMIC_RELAXED);
}

static bool is_done(struct profile_builder *b, bool done)
{
	b->is_out_of_memory = b->is_out_of_memory || !done;
	return done;
}

static void check_frames(void *context, size_t task, unsigned worker)
{
	struct profile_builder *b = context;
	for (size_t i = task * TASK_ITEMS; i < thread_pool_task_end(task, TASK_ITEMS, b->frames.frames.len); i++) {
		const struct profile_frame *frame = &b->frames.frames.items[i];
		if ((frame->function >= b->functions.len && frame->function != PROFILE_NONE) ||
			(frame->binary >= b->binaries.len && frame->binary != PROFILE_NONE))
			set_flag(&b->has_bad_id);
		if (profile_frame_is_guest(frame))
			set_flag(&b->has_guests);
	}
}

bool profile_builder_all_frames(
	struct profile_builder *b, const struct frame_source *from, unsigned threads, struct dedup *found)
{
	b->has_bad_id = b->has_bad_id || b->frames.frames.len > 0;
	if (!is_done(b, frame_table_fill(&b->frames, from, threads, found)))
		return false;
	thread_pool_for(thread_pool_tasks(b->frames.frames.len, TASK_ITEMS), threads, check_frames, b);
	return true;
}

static bool is_same_list(const void *context, uint32_t a, uint32_t b)
{
	const struct stack_source *from = context;
	struct list one = from->lists.get(from->lists.context, a), other = from->lists.get(from->lists.context, b);
	return one.count == other.count &&
	       (!one.count || memcmp(one.items, other.items, one.count * sizeof(*one.items)) == 0);
}

static uint32_t hash_list(const void *context, uint32_t item)
{
	const struct stack_source *from = context;
	return from->hash(from->lists.context, item);
}

static void expect_list(const void *context, uint32_t item)
{
	const struct stack_source *from = context;
	__builtin_prefetch(from->lists.get(from->lists.context, item).items);
}

struct different_lists {
	const struct list_source *from;
	const uint32_t *firsts;
};

static struct list different_list(const void *context, uint32_t number)
{
	const struct different_lists *lists = context;
	return lists->from->get(lists->from->context, lists->firsts[number]);
}

static void check_stacks(void *context, size_t task, unsigned worker)
{
	struct profile_builder *b = context;
	uint32_t highest = 0;
	bool is_any = false;
	for (size_t i = task * TASK_ITEMS; i < thread_pool_task_end(task, TASK_ITEMS, list_table_len(&b->stacks));
		i++) {
		struct list stack = list_table_get(&b->stacks, (uint32_t)i);
		is_any = is_any || stack.count > 0;
		for (uint32_t k = 0; k < stack.count; k++)
			highest = MAX(stack.items[k], highest);
	}
	if (is_any && highest >= b->frames.frames.len)
		set_flag(&b->has_bad_id);
}

bool profile_builder_all_stacks(
	struct profile_builder *b, const struct stack_source *from, unsigned threads, struct dedup *found)
{
	const struct dedup_items items = {.count = from->lists.count,
		.hash = hash_list,
		.equal = is_same_list,
		.expect = expect_list,
		.context = from};
	b->has_bad_id = b->has_bad_id || list_table_len(&b->stacks) > 0;
	b->is_complete = true;
	if (!is_done(b, dedup_find(&items, threads, found)))
		return false;
	const struct different_lists different = {&from->lists, found->firsts};
	const struct list_source lists = {found->count, different_list, &different};
	if (!is_done(b, list_table_fill(&b->stacks, &lists, threads))) {
		dedup_deinit(found);
		return false;
	}
	thread_pool_for(thread_pool_tasks(found->count, TASK_ITEMS), threads, check_stacks, b);
	return true;
}

static uint32_t hash_sample(const void *context, uint32_t item)
{
	const struct sample_source *from = context;
	return id_table_hash_words(from->key(from->context, item), from->key_words);
}

static bool is_same_sample(const void *context, uint32_t a, uint32_t b)
{
	const struct sample_source *from = context;
	return memcmp(from->key(from->context, a), from->key(from->context, b), from->key_words * sizeof(uint64_t)) ==
	       0;
}

static void profile_bulk_expect_sample(const void *context, uint32_t item)
{
	const struct sample_source *from = context;
	__builtin_prefetch(from->key(from->context, item));
}

struct profile_bulk_adding {
	struct profile_builder *b;
	const struct sample_source *from;
	struct dedup *found;
	struct sort_key *order; /* By position in the profile: the lowest order of the sample, and its number. */
	uint32_t *places; /* By number of a sample: its position. */
};

/* Adds the samples to their event, atomically because other workers do the same. */
static void count_samples(struct profile_builder *b, const struct profile_sample *of_event)
{
	if (of_event->event >= b->events.len) {
		set_flag(&b->has_bad_id);
		return;
	}
	struct profile_event *event = &b->events.items[of_event->event];
	__atomic_fetch_add(&event->sample_count, of_event->count, __ATOMIC_RELAXED);
	__atomic_fetch_add(&event->total_period, of_event->period, __ATOMIC_RELAXED);
}

/* Finds the lowest order of each distinct sample, which need not be the first one, and counts all samples. */
static void note_samples(void *context, size_t task, unsigned worker)
{
	const struct profile_bulk_adding *a = context;
	struct profile_sample sum = {0}; /* Sum for one event, because neighbours are mostly of the same event. */
	for (size_t i = task * TASK_ITEMS; i < thread_pool_task_end(task, TASK_ITEMS, a->from->count); i++) {
		const struct profile_sample sample = a->from->get(a->from->context, (uint32_t)i);
		atomic_least(&a->order[a->found->numbers[i]].key, sample.first_order);
		if (sample.event != sum.event) {
			count_samples(a->b, &sum);
			sum = (struct profile_sample){.event = sample.event};
		}
		sum.count += sample.count;
		sum.period += sample.period;
	}
	count_samples(a->b, &sum);
}

static void put_firsts(void *context, size_t task, unsigned worker)
{
	const struct profile_bulk_adding *a = context;
	struct profile_builder *b = a->b;
	for (size_t i = task * TASK_ITEMS; i < thread_pool_task_end(task, TASK_ITEMS, a->found->count); i++) {
		uint32_t number = (uint32_t)a->order[i].index;
		if (a->from->expect && i + PROFILE_BULK_AHEAD < a->found->count)
			a->from->expect(a->from->context, a->found->firsts[a->order[i + PROFILE_BULK_AHEAD].index]);
		struct profile_sample *to = &b->samples.items[i];
		*to = a->from->get(a->from->context, a->found->firsts[number]);
		if (to->first_order != a->order[i].key)
			to->first_tid = INT32_MAX; /* add_others replaces it, because another one is the earliest. */
		to->first_order = a->order[i].key;
		a->places[number] = (uint32_t)i;
		if (!profile_builder_sample_is_valid(b, to))
			set_flag(&b->has_bad_id);
	}
}

/* Adds the samples that equal an earlier one, atomically because other workers may add to the same sample. */
static void add_others(void *context, size_t task, unsigned worker)
{
	const struct profile_bulk_adding *a = context;
	for (size_t i = task * TASK_ITEMS; i < thread_pool_task_end(task, TASK_ITEMS, a->from->count); i++) {
		uint32_t number = a->found->numbers[i];
		a->found->numbers[i] = a->places[number];
		if (a->found->firsts[number] == i)
			continue;
		const struct profile_sample more = a->from->get(a->from->context, (uint32_t)i);
		struct profile_sample *to = &a->b->samples.items[a->places[number]];
		__atomic_fetch_add(&to->count, more.count, __ATOMIC_RELAXED);
		__atomic_fetch_add(&to->period, more.period, __ATOMIC_RELAXED);
		if (more.first_order == to->first_order)
			atomic_least(&to->first_tid, more.first_tid);
	}
}

/* Writes the order to room, sorted by event. Returns false if out of memory. */
static bool order_by_event(const struct profile_bulk_adding *a, struct sort_key *room)
{
	size_t count = a->found->count, events = a->b->events.len;
	uint32_t *event_of = malloc((count + 1) * sizeof(*event_of)), *from = malloc((count + 1) * sizeof(*from)),
		 *begin = calloc(events + 2, sizeof(*begin));
	bool is_done = event_of && from && begin;
	for (size_t i = 0; is_done && i < count; i++) {
		uint32_t first = a->found->firsts[a->order[i].index];
		event_of[i] = a->from->get(a->from->context, first).event;
	}
	if (is_done)
		buckets_fill(event_of, count, events, begin, from);
	for (size_t i = 0; is_done && i < count; i++)
		room[i] = a->order[from[i]];
	free(event_of);
	free(from);
	free(begin);
	return is_done;
}

/* Sorts by event, then by order, as in a finished profile. Returns false if out of memory. */
static bool order_samples(struct profile_bulk_adding *a, unsigned threads)
{
	size_t count = a->found->count;
	struct sort_key *room = a->order + count;
	for (size_t i = 0; i < count; i++)
		a->order[i] = (struct sort_key){UINT64_MAX, i};
	thread_pool_for(thread_pool_tasks(a->from->count, TASK_ITEMS), threads, note_samples, a);
	if (a->b->has_bad_id)
		return true;
	key_sort_by_all(a->order, room, count, threads);
	size_t sampled_events = 0;
	for (size_t i = 0; i < a->b->events.len; i++)
		sampled_events += a->b->events.items[i].sample_count > 0;
	if (sampled_events <= 1)
		return true;
	if (!order_by_event(a, room))
		return false;
	memcpy(a->order, room, count * sizeof(*room));
	return true;
}

/* Writes samples directly to their final position, so that finishing the profile does not move them. Returns false if
 * out of memory. */
static bool profile_bulk_add_samples(struct profile_bulk_adding *a, unsigned threads)
{
	struct profile_builder *b = a->b;
	size_t count = a->found->count;
	a->order = malloc((2 * count + 1) * sizeof(*a->order));
	a->places = malloc((count + 1) * sizeof(*a->places));
	if (!a->order || !a->places || !vec_reserve(&b->samples, count) || !order_samples(a, threads))
		return false;
	if (b->has_bad_id)
		return true;
	thread_pool_for(thread_pool_tasks(count, TASK_ITEMS), threads, put_firsts, a);
	thread_pool_for(thread_pool_tasks(a->from->count, TASK_ITEMS), threads, add_others, a);
	b->samples.len = count;
	return true;
}

bool profile_builder_all_samples(
	struct profile_builder *b, const struct sample_source *from, unsigned threads, struct dedup *found)
{
	const struct dedup_items items = {.count = from->count,
		.hash = hash_sample,
		.equal = is_same_sample,
		.expect = profile_bulk_expect_sample,
		.context = from};
	b->has_bad_id = b->has_bad_id || b->samples.len > 0;
	b->is_complete = true;
	if (!is_done(b, from->is_distinct ? dedup_none(from->count, found) : dedup_find(&items, threads, found)))
		return false;
	struct profile_bulk_adding adding = {.b = b, .from = from, .found = found};
	bool is_added = profile_bulk_add_samples(&adding, threads);
	free(adding.order);
	free(adding.places);
	if (!is_done(b, is_added)) {
		dedup_deinit(found);
		return false;
	}
	return true;
}
