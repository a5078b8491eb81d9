/*
 * slots.h - zeroed words for open addressing, on huge pages where they are many.
 *
 *	uint64_t *slots = slots_new(count);	NULL: out of memory
 *	slots_free(slots, count);
 */
#ifndef BASE_SLOTS_H
#define BASE_SLOTS_H

#include <stddef.h>
#include <stdint.h>

uint64_t *slots_new(size_t count);
void slots_free(uint64_t *slots, size_t count);

#endif
