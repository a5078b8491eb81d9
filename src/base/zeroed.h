/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zeroed.h - allocates zeroed memory that is used sparsely, for lookup tables.
 *
 * calloc writes nothing where the kernel has cleared the memory. What is read there first is a page that all share, and
 * with the first write one of its own, for which all CPUs of the process are interrupted: twice the faults, and in a
 * guest tens of microseconds for each. Freed by free.
 *
 *	uint64_t *slots = zeroed_new(count, sizeof(*slots));
 */
#ifndef BASE_ZEROED_H
#define BASE_ZEROED_H

#include <stddef.h>

/* At the beginning of a cache line. NULL: out of memory. */
void *zeroed_new(size_t count, size_t size);

#endif
