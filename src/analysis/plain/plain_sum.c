/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/plain/plain_sum.h"

#include <string.h>

#include "base/array.h"
#include "base/thread_pool.h"
#include "base/zeroed.h"

#define GROUP_WORDS	     2
#define PLAIN_SUM_TASK_SPOTS 8192
#define TASK_PLACES	     8192
#define AHEAD		     12 /* Number of spots or places by which prefetching runs ahead. */
#define MOST_LEVELS	     8 /* Limit of different levels that resolver_level returns. */

struct plain_sum_place { /* The samples of one group (event, thread, binary and level) in one function. */
	uint64_t start; /* Start of the function; the address if the function is unknown. */
	const struct symbol *symbol; /* NULL if the function is unknown. */
	uint64_t first; /* Its first spot (samples of one group at one address): fold << 32 | index in the fold. */
	struct sample_sum sum;
	uint32_t group;
};

struct function_run { /* Range of order.keys with the entries of one function. */
	size_t begin, end;
	const struct symbol *symbol;
};

struct frame_run { /* The struct plain_sum_place of one function with the same level: they have one frame. */
	uint32_t frame; /* The place that represents the frame. */
	uint32_t level;
	uint64_t first; /* The first spot of all these places. */
};

struct stamp { /* The place of a group in the last function that had one; workers handle one function after another. */
	size_t function; /* Function of that place: the index of its first spot in the order, + 1; 0: none. */
	size_t place;
};

struct counts { /* Numbers of the places and frames whose first spot is in a chunk of spots. */
	size_t places, frames;
};

/* Flag in place_at: the spot is also the first one of its frame. */
#define IS_OF_FRAME (UINT32_C(1) << 31)

struct summing {
	const struct plain_placed *placed;
	struct plain_order order; /* Later its keys sort the places by time. */
	struct sample_pass *pass;
	struct id_table group_ids;
	VEC(struct plain_group) groups; /* The distinct groups of all folds (results per part of the recording). */
	uint32_t **group_of; /* By fold and its group: the index in groups. */
	struct stamp **stamps; /* By worker, then by group. */
	unsigned worker_count;
	/* A task fills the items at the indexes of its own spots, here and in all arrays by place. */
	struct plain_sum_place *places;
	uint32_t *frames; /* By place: the place that represents its frame. */
	/* By spot of all folds: its place + 1 if it is the first spot of the place; otherwise 0. */
	uint32_t *place_at;
	uint32_t *numbers; /* By place that represents a frame: the number of the frame. */
	uint32_t *frame_firsts; /* By frame number: the first place with the frame. */
	struct counts *counts; /* By chunk of spots; later the sums of all earlier chunks. */
	size_t place_count, frame_count;
	bool failed; /* Out of memory; any worker sets it. */
};

static uint64_t plain_sum_pack(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

static uint32_t plain_sum_group_of(const struct summing *s, uint64_t packed)
{
	return s->group_of[packed >> 32][plain_order_spot(&s->order, packed)->group];
}

/* Returns false if out of memory. */
static bool join_threads(struct summing *s, size_t fold, uint32_t *threads)
{
	const struct id_table *from = &s->placed->folds[fold].threads;
	for (size_t i = 0; i < from->len; i++) {
		threads[i] = id_table_add(&s->pass->threads, id_table_key(from, (uint32_t)i), NULL);
		if (threads[i] == ID_TABLE_NONE)
			return false;
	}
	return true;
}

static bool join_groups(struct summing *s, size_t fold)
{
	const struct plain_fold *from = &s->placed->folds[fold];
	uint32_t *threads = malloc((from->threads.len + 1) * sizeof(*threads));
	uint32_t *ids = s->group_of[fold] = malloc((from->groups.len + 1) * sizeof(*ids));
	bool is_done = threads && ids && join_threads(s, fold, threads);
	for (size_t i = 0; is_done && i < from->groups.len; i++) {
		struct plain_group group = from->groups.items[i];
		group.thread = threads[group.thread];
		uint64_t words[GROUP_WORDS] = {
			plain_sum_pack(group.event, group.thread), plain_sum_pack(group.binary, group.level)};
		ids[i] = id_table_add(&s->group_ids, words, NULL);
		is_done = ids[i] != ID_TABLE_NONE && (ids[i] < s->groups.len || vec_push(&s->groups, group));
	}
	free(threads);
	return is_done;
}

static bool join_all_groups(struct summing *s)
{
	s->group_of = calloc(s->placed->count + 1, sizeof(*s->group_of));
	bool is_done = s->group_of;
	for (size_t i = 0; is_done && i < s->placed->count; i++)
		is_done = join_groups(s, i);
	return is_done;
}

/* Returns the frame of a place. All places of a function with the same level share the frame of the first one. */
static struct frame_run *frame_of(const struct summing *s, struct frame_run *runs, size_t *count, size_t place)
{
	uint32_t level = s->groups.items[s->places[place].group].level;
	for (size_t i = 0; i < *count; i++)
		if (runs[i].level == level)
			return &runs[i];
	struct frame_run *run = &runs[*count < MOST_LEVELS - 1 ? (*count)++ : *count];
	*run = (struct frame_run){(uint32_t)place, level, UINT64_MAX};
	return run;
}

static void plain_sum_add_spot(const struct summing *s, struct plain_sum_place *to, uint64_t packed)
{
	const struct plain_spot *spot = plain_order_spot(&s->order, packed);
	to->sum.count += spot->count;
	to->sum.period += spot->period;
	if (spot->first_order < to->sum.first_order)
		to->sum.first_order = spot->first_order;
	if (packed < to->first)
		to->first = packed;
}

/* Adds up the samples of one function by group, in the places from *next on, and advances *next. */
static void sum_function(const struct summing *s, struct stamp *stamps, const struct function_run *run, size_t *next)
{
	size_t begin = run->begin, end = run->end;
	struct frame_run frames[MOST_LEVELS];
	size_t frame_count = 0, first = *next;
	for (size_t i = begin; i < end; i++) {
		uint64_t packed = s->order.keys[i].index;
		uint32_t group = plain_sum_group_of(s, packed);
		struct stamp *stamp = &stamps[group];
		if (i + AHEAD < s->order.spot_count)
			__builtin_prefetch(plain_order_spot(&s->order, s->order.keys[i + AHEAD].index));
		if (stamp->function != begin + 1) {
			*stamp = (struct stamp){begin + 1, *next};
			s->places[*next] = (struct plain_sum_place){.start = s->order.keys[i].key,
				.symbol = run->symbol,
				.first = UINT64_MAX,
				.sum = {.first_order = UINT64_MAX},
				.group = group};
			s->frames[*next] = frame_of(s, frames, &frame_count, *next)->frame;
			++*next;
		}
		plain_sum_add_spot(s, &s->places[stamp->place], packed);
	}
	for (size_t i = first; i < *next; i++) {
		struct frame_run *frame = frame_of(s, frames, &frame_count, i);
		frame->first = MIN(s->places[i].first, frame->first);
		s->place_at[plain_order_number(&s->order, s->places[i].first)] = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < frame_count; i++)
		s->place_at[plain_order_number(&s->order, frames[i].first)] |= IS_OF_FRAME;
}

/* A task handles the functions that begin within its spots. */
static void sum_task(void *context, size_t task, unsigned worker)
{
	struct summing *s = context;
	size_t at = task * PLAIN_SUM_TASK_SPOTS,
	       end = thread_pool_task_end(task, PLAIN_SUM_TASK_SPOTS, s->order.spot_count),
	       area = plain_order_area(&s->order, at);
	struct stamp *stamps = s->stamps[worker];
	if (!stamps)
		stamps = s->stamps[worker] = calloc(s->groups.len + 1, sizeof(*stamps));
	if (!stamps) {
		__atomic_store_n(&s->failed, true, __ATOMIC_RELAXED);
		return;
	}
	if (at > s->order.areas[area].begin && s->order.keys[at].key == s->order.keys[at - 1].key)
		at = plain_order_function_end(&s->order, &s->order.areas[area], at);
	size_t next = at;
	while (at < end) {
		while (at >= s->order.areas[area].end)
			area++;
		struct function_run run = {
			.begin = at, .end = plain_order_function_end(&s->order, &s->order.areas[area], at)};
		run.symbol = plain_order_symbol(&s->order, &s->order.areas[area], at);
		sum_function(s, stamps, &run, &next);
		at = run.end;
	}
}

static bool sum_all(struct summing *s)
{
	size_t count = s->order.spot_count, tasks = thread_pool_tasks(count, PLAIN_SUM_TASK_SPOTS);
	s->places = malloc((count + 1) * sizeof(*s->places));
	s->frames = malloc((count + 1) * sizeof(*s->frames));
	s->place_at = zeroed_new(count + 1, sizeof(*s->place_at));
	s->worker_count = thread_pool_workers(tasks, s->placed->threads);
	s->stamps = calloc(s->worker_count + 1, sizeof(*s->stamps));
	if (!s->places || !s->frames || !s->place_at || !s->stamps)
		return false;
	thread_pool_for(tasks, s->placed->threads, sum_task, s);
	return !s->failed;
}

static void plain_sum_count_firsts(void *context, size_t chunk, unsigned worker)
{
	const struct summing *s = context;
	struct counts counts = {0, 0};
	for (size_t i = chunk * PLAIN_SUM_TASK_SPOTS;
		i < thread_pool_task_end(chunk, PLAIN_SUM_TASK_SPOTS, s->order.spot_count); i++) {
		counts.places += s->place_at[i] != 0;
		counts.frames += (s->place_at[i] & IS_OF_FRAME) != 0;
	}
	s->counts[chunk] = counts;
}

static void plain_sum_number_firsts(void *context, size_t chunk, unsigned worker)
{
	const struct summing *s = context;
	struct counts next = s->counts[chunk];
	for (size_t i = chunk * PLAIN_SUM_TASK_SPOTS;
		i < thread_pool_task_end(chunk, PLAIN_SUM_TASK_SPOTS, s->order.spot_count); i++) {
		if (!s->place_at[i])
			continue;
		uint32_t place = (s->place_at[i] & ~IS_OF_FRAME) - 1;
		s->order.keys[next.places++] = (struct sort_key){s->places[place].sum.first_order, place};
		if (!(s->place_at[i] & IS_OF_FRAME))
			continue;
		s->numbers[s->frames[place]] = (uint32_t)next.frames;
		s->frame_firsts[next.frames++] = place;
	}
}

/* Numbers frames in the order of their first use in the recording, and sorts places by the time of their first
 * sample. */
static bool number_places(struct summing *s)
{
	size_t chunks = thread_pool_tasks(s->order.spot_count, PLAIN_SUM_TASK_SPOTS);
	s->numbers = malloc((s->order.spot_count + 1) * sizeof(*s->numbers));
	s->frame_firsts = malloc((s->order.spot_count + 1) * sizeof(*s->frame_firsts));
	s->counts = malloc((chunks + 1) * sizeof(*s->counts));
	if (!s->numbers || !s->frame_firsts || !s->counts)
		return false;
	thread_pool_for(chunks, s->placed->threads, plain_sum_count_firsts, s);
	for (size_t chunk = 0; chunk < chunks; chunk++) {
		struct counts counts = s->counts[chunk];
		s->counts[chunk] = (struct counts){s->place_count, s->frame_count};
		s->place_count += counts.places;
		s->frame_count += counts.frames;
	}
	thread_pool_for(chunks, s->placed->threads, plain_sum_number_firsts, s);
	key_sort_by_all(s->order.keys, s->order.room, s->place_count, s->placed->threads);
	return true;
}

struct plain_sum_filling {
	const struct summing *s;
	uint64_t *keys, *frames; /* Where to write the sample keys and the frames of the profile. */
};

static void fill_keys(void *context, size_t task, unsigned worker)
{
	const struct plain_sum_filling *f = context;
	const struct summing *s = f->s;
	unsigned words = s->pass->keys.words;
	for (size_t i = task * TASK_PLACES; i < thread_pool_task_end(task, TASK_PLACES, s->place_count); i++) {
		size_t index = s->order.keys[i].index;
		const struct plain_sum_place *place = &s->places[index];
		if (i + AHEAD < s->place_count)
			__builtin_prefetch(&s->places[s->order.keys[i + AHEAD].index]);
		const struct plain_group *group = &s->groups.items[place->group];
		const struct sample_key key = {.event = group->event,
			.thread = group->thread,
			.leaf = s->numbers[s->frames[index]],
			.stack = RESOLVE_NONE,
			.cpu = -1};
		uint64_t packed[SAMPLE_KEY_WORDS];
		sample_key_pack(&key, packed);
		memcpy(f->keys + i * words, packed, words * sizeof(*packed));
		s->pass->sums.items[i] = place->sum;
	}
}

static void fill_frames(void *context, size_t task, unsigned worker)
{
	const struct plain_sum_filling *f = context;
	const struct summing *s = f->s;
	struct resolver *resolver = &s->pass->resolver;
	unsigned words = resolver->frames.words;
	for (size_t i = task * TASK_PLACES; i < thread_pool_task_end(task, TASK_PLACES, s->frame_count); i++) {
		const struct plain_sum_place *place = &s->places[s->frame_firsts[i]];
		if (i + AHEAD < s->frame_count)
			__builtin_prefetch(&s->places[s->frame_firsts[i + AHEAD]]);
		const struct plain_group *group = &s->groups.items[place->group];
		const struct resolved_frame frame = {
			.address = place->start, .binary = group->binary, .level = group->level};
		uint64_t packed[RESOLVED_FRAME_WORDS];
		resolved_frame_pack(&frame, packed);
		memcpy(f->frames + i * words, packed, words * sizeof(*packed));
		s->pass->symbols[i] = place->symbol;
		resolver->first_ips.items[i] =
			s->placed->folds[place->first >> 32].first_ips.items[(uint32_t)place->first];
	}
}

static bool fill_pass(const struct summing *s)
{
	struct sample_pass *pass = s->pass;
	unsigned threads = s->placed->threads;
	if (s->order.spot_count == 0)
		return true;
	struct plain_sum_filling filling = {s, id_table_append_many(&pass->keys, s->place_count),
		id_table_append_many(&pass->resolver.frames, s->frame_count)};
	pass->symbols = malloc((s->frame_count + 1) * sizeof(*pass->symbols));
	if (!pass->symbols || !filling.keys || !filling.frames || !vec_reserve(&pass->sums, s->place_count) ||
		!vec_reserve(&pass->resolver.first_ips, s->frame_count))
		return false;
	pass->sums.len = s->place_count;
	pass->resolver.first_ips.len = s->frame_count;
	thread_pool_for(thread_pool_tasks(s->place_count, TASK_PLACES), threads, fill_keys, &filling);
	thread_pool_for(thread_pool_tasks(s->frame_count, TASK_PLACES), threads, fill_frames, &filling);
	return true;
}

static void summing_deinit(struct summing *s)
{
	for (size_t i = 0; s->group_of && i < s->placed->count; i++)
		free(s->group_of[i]);
	free(s->group_of);
	plain_order_deinit(&s->order);
	id_table_deinit(&s->group_ids);
	vec_free(&s->groups);
	for (unsigned i = 0; s->stamps && i < s->worker_count; i++)
		free(s->stamps[i]);
	free(s->stamps);
	free(s->places);
	free(s->frames);
	free(s->place_at);
	free(s->numbers);
	free(s->frame_firsts);
	free(s->counts);
}

bool plain_sum(const struct plain_placed *placed, struct sample_pass *pass)
{
	struct summing s = {.placed = placed, .pass = pass, .group_ids = {.words = GROUP_WORDS}};
	bool is_done = join_all_groups(&s) && plain_order_make(&s.order, placed, pass->input.sideband->machine) &&
		       sum_all(&s) && number_places(&s) && fill_pass(&s);
	summing_deinit(&s);
	for (size_t i = 0; i < placed->count; i++) {
		damaged_records_merge(&pass->damaged, &placed->folds[i].part->damaged);
		pass->unattributed += placed->folds[i].part->unattributed;
	}
	resolver_end_lookups(&pass->resolver);
	return is_done;
}
