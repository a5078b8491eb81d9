/*
 * slots.h - zeroed words for open addressing, that are moved where they grow. The owner frees them.
 *
 *	if (slots_are_full(used, count) && !slots_grow(&slots, &count)) return error_nomem(err);
 */
#ifndef BASE_SLOTS_H
#define BASE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many in use are as many as these may hold: beyond it look-ups grow long. Of none: always. */
static inline bool slots_are_full(size_t used, size_t count)
{
	return used * 4 >= count * 3;
}
/* Twice as many (or the first ones), each that is in use at the place of its upper half's hash; count is a power of two.
 * False: out of memory, all is as it was. */
bool slots_grow(uint64_t **slots, size_t *count);
/* The same to a power of two that is not less. */
bool slots_grow_to(uint64_t **slots, size_t *count, size_t more);

#endif
