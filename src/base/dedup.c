/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dedup.h"

#include <stdlib.h>
#include <string.h>

#include "base/slots.h"
#include "base/thread_pool.h"
#include "base/zeroed.h"

#define CHUNK_ITEMS 16384 /* Number of items in a chunk: a task that handles consecutive items. */
/* Approximate number of items in a part (those with the same highest hash bits), of which the slots take 128 KiB. */
#define PART_ITEMS  8192
#define MOST_BITS   10 /* Maximum number of hash bits that select a part. */
#define LEAST_SLOTS 64
#define BATCH	    32 /* Number of lookups that wait for memory in parallel. */
#define HASH_BITS   32

struct dedup_finding {
	const struct dedup_items *items;
	/* The result. Before items are numbered, numbers contains the index of each item's first equal item. */
	struct dedup *found;
	unsigned bits;
	size_t parts, chunks;
	uint32_t *hashes;
	uint32_t *places; /* By chunk and part: number of the chunk's items, then the place in order of the next one. */
	uint32_t *begin; /* Beginning of each part in order. */
	uint32_t *order; /* Items grouped by part, each part ascending; later, the number of each first item. */
	uint32_t *counts; /* By chunk: number of first items in it, then before it. */
	bool failed; /* Set by any worker that runs out of memory. */
};

static size_t dedup_part_of(const struct dedup_finding *f, uint32_t hash)
{
	return (uint64_t)hash >> (HASH_BITS - f->bits);
}

static size_t dedup_chunk_end(const struct dedup_finding *f, size_t chunk)
{
	return thread_pool_task_end(chunk, CHUNK_ITEMS, f->items->count);
}

static void count_parts(void *context, size_t chunk, unsigned worker)
{
	const struct dedup_finding *f = context;
	const struct dedup_items *items = f->items;
	uint32_t *counts = f->places + chunk * f->parts;
	for (size_t i = chunk * CHUNK_ITEMS; i < dedup_chunk_end(f, chunk); i++) {
		f->hashes[i] = items->hash(items->context, (uint32_t)i);
		counts[dedup_part_of(f, f->hashes[i])]++;
	}
}

/* Converts counts to places: the parts follow one another, and within each the chunks are in their order. */
static void place_chunks(struct dedup_finding *f)
{
	uint32_t place = 0;
	for (size_t part = 0; part < f->parts; part++) {
		f->begin[part] = place;
		for (size_t chunk = 0; chunk < f->chunks; chunk++) {
			uint32_t *at = &f->places[chunk * f->parts + part], count = *at;
			*at = place;
			place += count;
		}
	}
	f->begin[f->parts] = place;
}

static void put_apart(void *context, size_t chunk, unsigned worker)
{
	const struct dedup_finding *f = context;
	uint32_t *places = f->places + chunk * f->parts;
	for (size_t i = chunk * CHUNK_ITEMS; i < dedup_chunk_end(f, chunk); i++)
		f->order[places[dedup_part_of(f, f->hashes[i])]++] = (uint32_t)i;
}

/* The hash table of a part. A slot contains a hash in its upper half and an item + 1 in its lower half. */
struct part_slots {
	const struct dedup_items *items;
	const uint32_t *hashes;
	uint64_t *slots;
	size_t mask;
};

/* Returns the first equal item, or the item itself if there is none before it. */
static uint32_t dedup_first_of(const struct part_slots *s, uint32_t item)
{
	uint32_t hash = s->hashes[item];
	size_t at = hash & s->mask;
	for (; s->slots[at]; at = (at + 1) & s->mask) {
		uint32_t known = (uint32_t)s->slots[at] - 1;
		if (s->slots[at] >> HASH_BITS == hash && s->items->equal(s->items->context, known, item))
			return known;
	}
	s->slots[at] = (uint64_t)hash << HASH_BITS | (item + UINT64_C(1));
	return item;
}

static void find_in_part(void *context, size_t part, unsigned worker)
{
	struct dedup_finding *f = context;
	const uint32_t *item = f->order + f->begin[part], *end = f->order + f->begin[part + 1];
	size_t slot_count = LEAST_SLOTS;
	while (slots_are_full((size_t)(end - item), slot_count))
		slot_count *= 2;
	const struct part_slots s = {f->items, f->hashes, zeroed_new(slot_count, sizeof(uint64_t)), slot_count - 1};
	if (!s.slots) {
		__atomic_store_n(&f->failed, true, __ATOMIC_RELAXED);
		return;
	}
	while (item < end) {
		const uint32_t *batch_end = end - item < BATCH ? end : item + BATCH;
		for (const uint32_t *next = item; f->items->expect && next < batch_end; next++) {
			uint64_t slot = s.slots[s.hashes[*next] & s.mask];
			if (!slot || slot >> HASH_BITS != s.hashes[*next])
				continue;
			s.items->expect(s.items->context, (uint32_t)slot - 1);
			s.items->expect(s.items->context, *next);
		}
		for (; item < batch_end; item++)
			f->found->numbers[*item] = dedup_first_of(&s, *item);
	}
	free(s.slots);
}

static void dedup_count_firsts(void *context, size_t chunk, unsigned worker)
{
	const struct dedup_finding *f = context;
	uint32_t count = 0;
	for (size_t i = chunk * CHUNK_ITEMS; i < dedup_chunk_end(f, chunk); i++)
		count += f->found->numbers[i] == i;
	f->counts[chunk] = count;
}

static void dedup_number_firsts(void *context, size_t chunk, unsigned worker)
{
	const struct dedup_finding *f = context;
	uint32_t number = f->counts[chunk];
	for (size_t i = chunk * CHUNK_ITEMS; i < dedup_chunk_end(f, chunk); i++) {
		if (f->found->numbers[i] != i)
			continue;
		f->found->firsts[number] = (uint32_t)i;
		f->order[i] = number++;
	}
}

static void tell_numbers(void *context, size_t chunk, unsigned worker)
{
	const struct dedup_finding *f = context;
	for (size_t i = chunk * CHUNK_ITEMS; i < dedup_chunk_end(f, chunk); i++)
		f->found->numbers[i] = f->order[f->found->numbers[i]];
}

static void number_all(struct dedup_finding *f, unsigned threads)
{
	thread_pool_for(f->chunks, threads, dedup_count_firsts, f);
	uint32_t number = 0;
	for (size_t chunk = 0; chunk < f->chunks; chunk++) {
		uint32_t count = f->counts[chunk];
		f->counts[chunk] = number;
		number += count;
	}
	f->found->count = number;
	thread_pool_for(f->chunks, threads, dedup_number_firsts, f);
	thread_pool_for(f->chunks, threads, tell_numbers, f);
}

static bool dedup_make_room(size_t count, struct dedup *found)
{
	*found = (struct dedup){.numbers = malloc((count + 1) * sizeof(*found->numbers)),
		.firsts = malloc((count + 1) * sizeof(*found->firsts))};
	if (found->numbers && found->firsts)
		return true;
	dedup_deinit(found);
	return false;
}

static bool prepare_numbers(struct dedup_finding *f)
{
	size_t count = f->items->count;
	f->chunks = thread_pool_tasks(count, CHUNK_ITEMS);
	f->order = malloc((count + 1) * sizeof(*f->order));
	f->counts = malloc((f->chunks + 1) * sizeof(*f->counts));
	return dedup_make_room(count, f->found) && count < UINT32_MAX && f->order && f->counts;
}

static bool dedup_prepare(struct dedup_finding *f)
{
	size_t count = f->items->count;
	if (!prepare_numbers(f))
		return false;
	while (f->bits < MOST_BITS && count >> f->bits > PART_ITEMS)
		f->bits++;
	f->parts = (size_t)1 << f->bits;
	f->hashes = malloc((count + 1) * sizeof(*f->hashes));
	f->places = calloc(f->chunks * f->parts + 1, sizeof(*f->places));
	f->begin = malloc((f->parts + 1) * sizeof(*f->begin));
	return f->hashes && f->places && f->begin;
}

static bool dedup_finish(struct dedup_finding *f, bool is_done)
{
	free(f->hashes);
	free(f->places);
	free(f->begin);
	free(f->order);
	free(f->counts);
	if (!is_done)
		dedup_deinit(f->found);
	return is_done;
}

bool dedup_find(const struct dedup_items *items, unsigned threads, struct dedup *found)
{
	struct dedup_finding f = {.items = items, .found = found};
	bool is_done = dedup_prepare(&f);
	if (is_done) {
		thread_pool_for(f.chunks, threads, count_parts, &f);
		place_chunks(&f);
		thread_pool_for(f.chunks, threads, put_apart, &f);
		thread_pool_for(f.parts, threads, find_in_part, &f);
		is_done = !f.failed;
	}
	if (is_done)
		number_all(&f, threads);
	return dedup_finish(&f, is_done);
}

bool dedup_none(size_t count, struct dedup *found)
{
	if (!dedup_make_room(count, found))
		return false;
	for (size_t i = 0; i < count; i++)
		found->numbers[i] = found->firsts[i] = (uint32_t)i;
	found->count = count;
	return true;
}

bool dedup_known(const uint32_t *firsts, size_t count, unsigned threads, struct dedup *found)
{
	const struct dedup_items items = {.count = count};
	struct dedup_finding f = {.items = &items, .found = found};
	bool is_done = prepare_numbers(&f);
	if (is_done && count > 0)
		memcpy(found->numbers, firsts, count * sizeof(*firsts));
	if (is_done)
		number_all(&f, threads);
	return dedup_finish(&f, is_done);
}

void dedup_deinit(struct dedup *found)
{
	free(found->numbers);
	free(found->firsts);
	*found = (struct dedup){0};
}
