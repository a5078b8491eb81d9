/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.h - manages zeroed words for hash tables with open addressing, and moves them when the table grows. The owner
 * frees them.
 *
 *	if (slots_are_full(used, count) && !slots_grow(&slots, &count)) return error_nomem(err);
 */
#ifndef BASE_SLOTS_H
#define BASE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOTS_GUESSED 8 /* a cache line */

/* The first slot with the upper half of the hash among its first SLOTS_GUESSED slots, which are in one or two cache
 * lines; 0: none. */
static inline uint64_t slots_guess(const uint64_t *slots, size_t count, uint32_t hash)
{
	size_t mask = count - 1, at = hash & mask;
	for (unsigned i = 0; count && i < SLOTS_GUESSED && slots[at]; i++, at = (at + 1) & mask)
		if (slots[at] >> 32 == hash)
			return slots[at];
	return 0;
}
/* Whether so many used slots are the most that a table of this size may have; with more, look-ups take long. Always
 * true without slots. */
static inline bool slots_are_full(size_t used, size_t count)
{
	return used * 4 >= count * 3;
}
/* Doubles the number of slots (or allocates the first ones), and moves each used slot to the place that the hash in its
 * upper half gives; count is a power of two. False: out of memory, and nothing has changed. */
bool slots_grow(uint64_t **slots, size_t *count);
/* The same to a power of two that is not less. */
bool slots_grow_to(uint64_t **slots, size_t *count, size_t more);

#endif
