#include "base/key_sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/thread_pool.h"

#define DIGIT_BITS 11
#define DIGITS	   (1u << DIGIT_BITS)

#define MANY_KEYS   (1u << 18) /* of which even the caches that CPUs share hold only a part */
#define CACHED_KEYS (1u << 14) /* with their room half a megabyte: what a CPU's own cache holds */

/* One pass of a radix sort, by the digit at shift. Into ends: where the keys of each digit end. */
static void sort_by_digit(
	const struct sort_key *from, struct sort_key *to, size_t count, unsigned shift, size_t ends[DIGITS])
{
	memset(ends, 0, DIGITS * sizeof(*ends));
	for (size_t i = 0; i < count; i++)
		ends[from[i].key >> shift & (DIGITS - 1)]++;
	size_t place = 0;
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t n = ends[digit];
		ends[digit] = place;
		place += n;
	}
	for (size_t i = 0; i < count; i++)
		to[ends[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

/* Bits in which the keys differ; 0 also where they are in order. */
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

/* By one digit after another from the lowest on, of those that the used bits are in. */
static void sort_digits(struct sort_key *keys, struct sort_key *room, size_t count, uint64_t used)
{
	size_t ends[DIGITS];
	struct sort_key *from = keys, *to = room;
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		if ((used >> shift & (DIGITS - 1)) == 0)
			continue;
		sort_by_digit(from, to, count, shift, ends);
		struct sort_key *swap = from;
		from = to;
		to = swap;
	}
	if (from != keys)
		memcpy(keys, from, count * sizeof(*keys));
}

void key_sort(struct sort_key *keys, struct sort_key *room, size_t count)
{
	uint64_t used = bits_to_sort(keys, count);
	if (!used)
		return;
	unsigned bits = 64 - (unsigned)__builtin_clzll(used), high = 0;
	if (count < MANY_KEYS || bits <= DIGIT_BITS) {
		sort_digits(keys, room, count, used);
		return;
	}
	while (high < DIGIT_BITS && count >> high > CACHED_KEYS)
		high++;
	/* By the highest bits first, over all of memory; then by those below them, within what the cache holds. */
	size_t ends[DIGITS], begin = 0;
	sort_by_digit(keys, room, count, bits - high, ends);
	memcpy(keys, room, count * sizeof(*keys));
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t n = ends[digit] - begin;
		if (n > 1)
			key_sort(keys + begin, room + begin, n);
		begin = ends[digit];
	}
}

#define SAMPLES_PER_PART 16
#define SAMPLED_KEYS	 (KEY_SORT_PARTS * SAMPLES_PER_PART)
#define FEW_KEYS	 (1u << 14) /* sorted before a thread has started */

/* The least key of each part but the first, by some of the keys. */
static void find_borders(const struct sort_key *keys, size_t count, uint64_t borders[KEY_SORT_PARTS - 1])
{
	struct sort_key sampled[SAMPLED_KEYS], room[SAMPLED_KEYS];
	for (size_t i = 0; i < SAMPLED_KEYS; i++)
		sampled[i] = keys[count * i / SAMPLED_KEYS];
	key_sort(sampled, room, SAMPLED_KEYS);
	for (size_t part = 1; part < KEY_SORT_PARTS; part++)
		borders[part - 1] = sampled[part * SAMPLES_PER_PART].key;
}

static size_t part_of(const uint64_t borders[KEY_SORT_PARTS - 1], uint64_t key)
{
	size_t part = 0;
	for (size_t step = KEY_SORT_PARTS / 2; step; step /= 2)
		part += key >= borders[part + step - 1] ? step : 0;
	return part;
}

void key_sort_divide(const struct sort_key *keys, struct sort_key *to, size_t count, size_t ends[KEY_SORT_PARTS])
{
	uint64_t borders[KEY_SORT_PARTS - 1];
	size_t sizes[KEY_SORT_PARTS] = {0}, place = 0;
	if (count == 0) {
		memset(ends, 0, KEY_SORT_PARTS * sizeof(*ends));
		return;
	}
	find_borders(keys, count, borders);
	for (size_t i = 0; i < count; i++)
		sizes[part_of(borders, keys[i].key)]++;
	for (size_t part = 0; part < KEY_SORT_PARTS; part++) {
		ends[part] = place; /* for now where it begins */
		place += sizes[part];
	}
	for (size_t i = 0; i < count; i++)
		to[ends[part_of(borders, keys[i].key)]++] = keys[i];
}

struct divided {
	struct sort_key *keys, *room; /* the parts are in room */
	size_t ends[KEY_SORT_PARTS];
};

static void sort_part(void *context, size_t index, unsigned worker)
{
	const struct divided *divided = context;
	size_t begin = index ? divided->ends[index - 1] : 0, count = divided->ends[index] - begin;
	memcpy(divided->keys + begin, divided->room + begin, count * sizeof(*divided->keys));
	key_sort(divided->keys + begin, divided->room + begin, count);
}

void key_sort_by_all(struct sort_key *keys, struct sort_key *room, size_t count, unsigned max_workers)
{
	struct divided divided = {.keys = keys, .room = room};
	if (count < FEW_KEYS || thread_pool_workers(KEY_SORT_PARTS, max_workers) == 1) {
		key_sort(keys, room, count);
		return;
	}
	if (!bits_to_sort(keys, count))
		return;
	key_sort_divide(keys, room, count, divided.ends);
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

static void *place_of(void *items, size_t size, size_t index)
{
	return (char *)items + index * size;
}

bool key_sort_move(void *items, size_t count, size_t size, struct sort_key *order)
{
	void *first = malloc(size + 1);
	for (size_t i = 0; first && i < count; i++) {
		if (order[i].index == i)
			continue;
		memcpy(first, place_of(items, size, i), size);
		size_t to = i;
		for (size_t from; (from = order[to].index) != i; to = from) {
			memcpy(place_of(items, size, to), place_of(items, size, from), size);
			order[to].index = to;
		}
		memcpy(place_of(items, size, to), first, size);
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
