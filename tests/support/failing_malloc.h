/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_malloc.h - makes the n-th allocation of a test fail, and counts the blocks that are still held. Include it in
 * one source of the test program only: it replaces malloc, calloc, realloc, aligned_alloc, free, strdup and strndup of
 * everything linked in.
 *
 *	for (size_t n = 0; failing_malloc_begin(n), !work(); n++) ...
 */
#ifndef SUPPORT_FAILING_MALLOC_H
#define SUPPORT_FAILING_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* From now on the allocation number nth (from 0) and all after it fail; SIZE_MAX: none. */
void failing_malloc_begin(size_t nth);
/* Allocations work again; returns whether one has failed since begin. */
bool failing_malloc_end(void);
/* Blocks of this thread that were allocated and not freed since begin. */
long failing_malloc_held(void);

#endif
