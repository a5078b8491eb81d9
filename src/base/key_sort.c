/* SPDX-License-Identifier: Apache-2.0 */
#include "base/key_sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/thread_pool.h"

#define DIGIT_BITS	11
#define DIGITS		(1u << DIGIT_BITS)
#define DIGIT_BITS_FEW	8
#define KEYS_FEW_DIGITS 4096 /* For fewer keys, one more pass is faster than adding up the counts of large digits. */

#define MANY_KEYS (1u << 18) /* From this number on, keys exceed even the caches that CPUs share. */
/* This many keys and their buffer take half a megabyte, which fits into a CPU's own cache. */
#define CACHED_KEYS (1u << 14)
#define FEW_KEYS    48

struct sort_digit {
	unsigned shift, bits;
};

/* Does one pass of a radix sort, by the digit. ends receives the end of each digit's keys. */
static void sort_by_digit(
	const struct sort_key *from, struct sort_key *to, size_t count, struct sort_digit by, size_t ends[DIGITS])
{
	unsigned shift = by.shift;
	size_t digits = (size_t)1 << by.bits;
	memset(ends, 0, digits * sizeof(*ends));
	for (size_t i = 0; i < count; i++)
		ends[from[i].key >> shift & (digits - 1)]++;
	size_t place = 0;
	for (size_t digit = 0; digit < digits; digit++) {
		size_t n = ends[digit];
		ends[digit] = place;
		place += n;
	}
	for (size_t i = 0; i < count; i++)
		to[ends[from[i].key >> shift & (digits - 1)]++] = from[i];
}

/* Returns the bits in which keys differ, or 0 if the keys are in order. */
static uint64_t bits_to_sort(const struct sort_key *keys, size_t count)
{
	uint64_t used = 0;
	bool is_sorted = true;
	for (size_t i = 1; i < count; i++) {
		used |= keys[i].key ^ keys[0].key;
		is_sorted = is_sorted && keys[i - 1].key <= keys[i].key;
	}
	return is_sorted ? 0 : used;
}

/*
 * Sorts by one digit after another, from the lowest on, skipping unused bits. Returns from or to: the one with the
 * result.
 */
static struct sort_key *sort_digits(struct sort_key *from, struct sort_key *to, size_t count, uint64_t used)
{
	if (used == 0)
		return from;
	size_t ends[DIGITS];
	unsigned width = 64 - (unsigned)__builtin_clzll(used) - (unsigned)__builtin_ctzll(used);
	unsigned most = count < KEYS_FEW_DIGITS ? DIGIT_BITS_FEW : DIGIT_BITS, passes = (width + most - 1) / most;
	struct sort_digit by = {.bits = (width + passes - 1) / passes};
	while (used) {
		by.shift = (unsigned)__builtin_ctzll(used);
		sort_by_digit(from, to, count, by, ends);
		unsigned done = by.shift + by.bits;
		used = done < 64 ? used >> done << done : 0;
		struct sort_key *swap = from;
		from = to;
		to = swap;
	}
	return from;
}

static void copy_keys(struct sort_key *to, const struct sort_key *from, size_t count)
{
	if (to != from)
		memcpy(to, from, count * sizeof(*to));
}

void key_sort(struct sort_key *keys, struct sort_key *room, size_t count)
{
	if (count <= FEW_KEYS) {
		/* Insertion sort, which for few keys is faster than zeroing the counts of digits. */
		for (size_t i = 1; i < count; i++) {
			struct sort_key key = keys[i];
			size_t to = i;
			for (; to > 0 && keys[to - 1].key > key.key; to--)
				keys[to] = keys[to - 1];
			keys[to] = key;
		}
		return;
	}
	uint64_t used = bits_to_sort(keys, count);
	if (!used)
		return;
	unsigned bits = 64 - (unsigned)__builtin_clzll(used), high = 0;
	if (count < MANY_KEYS || bits <= DIGIT_BITS) {
		copy_keys(keys, sort_digits(keys, room, count, used), count);
		return;
	}
	while (high < DIGIT_BITS && count >> high > CACHED_KEYS)
		high++;
	/* Sorts by the highest bits first, in all of memory, then by the bits below, within the cache. */
	size_t ends[DIGITS], begin = 0;
	sort_by_digit(keys, room, count, (struct sort_digit){bits - high, DIGIT_BITS}, ends);
	memcpy(keys, room, count * sizeof(*keys));
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t n = ends[digit] - begin;
		key_sort(keys + begin, room + begin, n);
		begin = ends[digit];
	}
}

#define SAMPLES_PER_PART 16
#define SAMPLED_KEYS	 (KEY_SORT_PARTS * SAMPLES_PER_PART)
#define LEAST_TO_SHARE	 (1u << 14) /* With fewer keys, sorting ends before a thread has started. */
#define CHUNK_KEYS	 (1u << 15) /* Number of keys in a task that distributes keys to parts: ranges of key values. */

/* Estimates the least key of each part but the first, from a sample of the keys. */
static void find_borders(const struct sort_key *keys, size_t count, uint64_t borders[KEY_SORT_PARTS - 1])
{
	struct sort_key sampled[SAMPLED_KEYS], room[SAMPLED_KEYS];
	for (size_t i = 0; i < SAMPLED_KEYS; i++)
		sampled[i] = keys[count * i / SAMPLED_KEYS];
	key_sort(sampled, room, SAMPLED_KEYS);
	for (size_t part = 1; part < KEY_SORT_PARTS; part++)
		borders[part - 1] = sampled[part * SAMPLES_PER_PART].key;
}

static size_t key_sort_part_of(const uint64_t borders[KEY_SORT_PARTS - 1], uint64_t key)
{
	size_t part = 0;
	for (size_t step = KEY_SORT_PARTS / 2; step; step /= 2)
		part += key >= borders[part + step - 1] ? step : 0;
	return part;
}

struct dividing {
	const struct sort_key *keys;
	struct sort_key *to;
	size_t count, chunk; /* Number of all keys, and of the keys in a chunk. */
	uint64_t borders[KEY_SORT_PARTS - 1];
	size_t (*places)[KEY_SORT_PARTS]; /* By chunk and part: number of keys, then the place of the next one. */
};

static void count_chunk(void *context, size_t chunk, unsigned worker)
{
	const struct dividing *d = context;
	size_t counts[KEY_SORT_PARTS] = {0};
	for (size_t i = chunk * d->chunk; i < thread_pool_task_end(chunk, d->chunk, d->count); i++)
		counts[key_sort_part_of(d->borders, d->keys[i].key)]++;
	memcpy(d->places[chunk], counts, sizeof(counts));
}

static void put_chunk(void *context, size_t chunk, unsigned worker)
{
	const struct dividing *d = context;
	size_t places[KEY_SORT_PARTS];
	memcpy(places, d->places[chunk], sizeof(places));
	for (size_t i = chunk * d->chunk; i < thread_pool_task_end(chunk, d->chunk, d->count); i++)
		d->to[places[key_sort_part_of(d->borders, d->keys[i].key)]++] = d->keys[i];
}

void key_sort_divide(const struct sort_key *keys, struct sort_key *to, size_t count, size_t ends[KEY_SORT_PARTS],
	unsigned max_workers)
{
	size_t one[1][KEY_SORT_PARTS], place = 0;
	memset(ends, 0, KEY_SORT_PARTS * sizeof(*ends));
	if (count == 0)
		return;
	struct dividing d = {.keys = keys, .to = to, .count = count, .chunk = CHUNK_KEYS};
	size_t chunks = thread_pool_tasks(count, CHUNK_KEYS);
	size_t(*places)[KEY_SORT_PARTS] = chunks > 1 ? malloc(chunks * sizeof(*places)) : NULL;
	if (!places) {
		chunks = 1;
		d.chunk = count;
	}
	d.places = places ? places : one;
	find_borders(keys, count, d.borders);
	thread_pool_for(chunks, max_workers, count_chunk, &d);
	for (size_t part = 0; part < KEY_SORT_PARTS; part++) {
		for (size_t chunk = 0; chunk < chunks; chunk++) {
			size_t keys_of_chunk = d.places[chunk][part];
			d.places[chunk][part] = place;
			place += keys_of_chunk;
		}
		ends[part] = place;
	}
	thread_pool_for(chunks, max_workers, put_chunk, &d);
	free(places);
}

struct divided {
	struct sort_key *keys, *room; /* room has the keys after their distribution to parts. */
	size_t ends[KEY_SORT_PARTS];
};

static void sort_part(void *context, size_t index, unsigned worker)
{
	const struct divided *d = context;
	size_t begin = index ? d->ends[index - 1] : 0, count = d->ends[index] - begin;
	uint64_t used = bits_to_sort(d->room + begin, count);
	if (count < MANY_KEYS) {
		copy_keys(d->keys + begin, sort_digits(d->room + begin, d->keys + begin, count, used), count);
		return;
	}
	copy_keys(d->keys + begin, d->room + begin, count);
	key_sort(d->keys + begin, d->room + begin, count);
}

void key_sort_by_all(struct sort_key *keys, struct sort_key *room, size_t count, unsigned max_workers)
{
	struct divided divided = {.keys = keys, .room = room};
	bool is_shared = count >= LEAST_TO_SHARE && thread_pool_workers(KEY_SORT_PARTS, max_workers) > 1;
	if (!is_shared) {
		key_sort(keys, room, count);
		return;
	}
	size_t sorted = 1;
	while (sorted < count && keys[sorted - 1].key <= keys[sorted].key)
		sorted++;
	if (sorted >= count)
		return;
	key_sort_divide(keys, room, count, divided.ends, max_workers);
	thread_pool_for(KEY_SORT_PARTS, max_workers, sort_part, &divided);
}

static const void *item_at(const void *items, size_t size, size_t index)
{
	return (const char *)items + index * size;
}

struct sort_key *key_sort_order(
	const void *items, size_t count, size_t size, const key_of_item *keys_of, size_t key_count)
{
	struct sort_key *keys = count < SIZE_MAX / sizeof(*keys) / 2 ? malloc((count * 2 + 1) * sizeof(*keys)) : NULL;
	if (!keys)
		return NULL;
	for (size_t i = 0; i < count; i++)
		keys[i].index = i;
	for (size_t k = key_count; k-- > 0;) {
		for (size_t i = 0; i < count; i++)
			keys[i].key = keys_of[k](item_at(items, size, keys[i].index));
		key_sort(keys, keys + count, count);
	}
	return keys;
}

static void *key_sort_place_of(void *items, size_t size, size_t index)
{
	return (char *)items + index * size;
}

bool key_sort_move(void *items, size_t count, size_t size, struct sort_key *order)
{
	void *first = malloc(size + 1);
	for (size_t i = 0; first && i < count; i++) {
		if (order[i].index == i)
			continue;
		memcpy(first, key_sort_place_of(items, size, i), size);
		size_t to = i;
		for (size_t from; (from = order[to].index) != i; to = from) {
			memcpy(key_sort_place_of(items, size, to), key_sort_place_of(items, size, from), size);
			order[to].index = to;
		}
		memcpy(key_sort_place_of(items, size, to), first, size);
		order[to].index = to;
	}
	free(first);
	return first != NULL;
}

static bool are_in_order(const void *left, const void *right, const key_of_item *keys_of, size_t key_count)
{
	for (size_t k = 0; k < key_count; k++) {
		uint64_t a = keys_of[k](left), b = keys_of[k](right);
		if (a != b)
			return a < b;
	}
	return true;
}

bool key_sort_items(void *items, size_t count, size_t size, const key_of_item *keys_of, size_t key_count)
{
	size_t i = 1;
	while (i < count && are_in_order(item_at(items, size, i - 1), item_at(items, size, i), keys_of, key_count))
		i++;
	if (i >= count)
		return true;
	struct sort_key *keys = key_sort_order(items, count, size, keys_of, key_count);
	bool is_done = keys && key_sort_move(items, count, size, keys);
	free(keys);
	return is_done;
}
