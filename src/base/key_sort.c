#include "base/key_sort.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS	   (1u << DIGIT_BITS)

/* One pass of a radix sort, by the digit at shift. */
static void sort_by_digit(const struct sort_key *from, struct sort_key *to, size_t count, unsigned shift)
{
	size_t places[DIGITS] = {0};
	for (size_t i = 0; i < count; i++)
		places[from[i].key >> shift & (DIGITS - 1)]++;
	size_t place = 0;
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t n = places[digit];
		places[digit] = place;
		place += n;
	}
	for (size_t i = 0; i < count; i++)
		to[places[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

void key_sort(struct sort_key *keys, struct sort_key *room, size_t count)
{
	uint64_t used = 0; /* bits in which the keys differ */
	bool is_sorted = true;
	for (size_t i = 1; i < count; i++) {
		used |= keys[i].key ^ keys[0].key;
		is_sorted = is_sorted && keys[i - 1].key <= keys[i].key;
	}
	if (is_sorted)
		return;
	struct sort_key *from = keys, *to = room;
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		if ((used >> shift & (DIGITS - 1)) == 0)
			continue;
		sort_by_digit(from, to, count, shift);
		struct sort_key *swap = from;
		from = to;
		to = swap;
	}
	if (from != keys)
		memcpy(keys, from, count * sizeof(*keys));
}

static const void *item_at(const void *items, size_t size, size_t index)
{
	return (const char *)items + index * size;
}

struct sort_key *key_sort_order(
	const void *items, size_t count, size_t size, const key_of_item *keys_of, size_t key_count)
{
	struct sort_key *keys = calloc(count + 1, 2 * sizeof(*keys));
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
