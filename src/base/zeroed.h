/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zeroed.h - allocates zeroed memory that is used sparsely, for lookup tables.
 *
 * calloc writes nothing to memory that the kernel has cleared. A first read of a page there maps the shared zero page,
 * and the first write then maps a page of its own and interrupts all CPUs of the process: twice the faults, which in a
 * virtual machine take tens of microseconds each. Free it with free.
 *
 *	uint64_t *slots = zeroed_new(count, sizeof(*slots));
 */
#ifndef BASE_ZEROED_H
#define BASE_ZEROED_H

#include <stddef.h>

/* The memory begins at a cache line. NULL: out of memory. */
void *zeroed_new(size_t count, size_t size);

#endif
