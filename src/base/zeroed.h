/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zeroed.h - allocates zeroed memory that is used sparsely, for lookup tables.
 *
 * calloc does not touch memory that the kernel has cleared. If a page of it is read first, the kernel maps the shared
 * zero page; the first write then maps a separate page and interrupts all CPUs of the process. These are two page
 * faults for each page, and each needs tens of microseconds in a virtual machine. zeroed_new avoids the first one by
 * writing all of the memory. Free the memory with free.
 *
 *	uint64_t *slots = zeroed_new(count, sizeof(*slots));
 */
#ifndef BASE_ZEROED_H
#define BASE_ZEROED_H

#include <stddef.h>

/* Returns memory that is aligned to a cache line; NULL if out of memory. */
void *zeroed_new(size_t count, size_t size);

#endif
