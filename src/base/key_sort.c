#include "base/key_sort.h"

#include <stdbool.h>
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
