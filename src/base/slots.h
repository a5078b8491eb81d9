/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.h - manages the slots of hash tables with open addressing, which are 64-bit words with the hash in the upper
 * half, or 0 if empty. The owner frees them.
 *
 *	if (slots_are_full(used, count) && !slots_grow(&slots, &count)) return error_nomem(err);
 */
#ifndef BASE_SLOTS_H
#define BASE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOTS_GUESSED 8 /* Number of slots in a cache line. */

/*
 * Returns the first slot with this hash among the first SLOTS_GUESSED slots of its probe sequence, which are in one or
 * two cache lines; 0 if there is none.
 */
static inline uint64_t slots_guess(const uint64_t *slots, size_t count, uint32_t hash)
{
	size_t mask = count - 1, at = hash & mask;
	for (unsigned i = 0; count && i < SLOTS_GUESSED && slots[at]; i++, at = (at + 1) & mask)
		if (slots[at] >> 32 == hash)
			return slots[at];
	return 0;
}
/* Returns true if the load factor has reached its maximum of 3/4, or there are no slots. */
static inline bool slots_are_full(size_t used, size_t count)
{
	return used * 4 >= count * 3;
}
/*
 * Doubles the number of slots (or allocates the first ones), and moves each used slot to its position; count is a power
 * of two. Returns false if out of memory; nothing has changed then.
 */
bool slots_grow(uint64_t **slots, size_t *count);
/* Does the same with a new number of slots, a power of two that is not smaller. */
bool slots_grow_to(uint64_t **slots, size_t *count, size_t more);

#endif
