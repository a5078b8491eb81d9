/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_malloc.h - makes the n-th allocation of a test fail, and counts the blocks that are still allocated.
 * Include it in one source of the test program only: it replaces malloc, calloc, realloc, aligned_alloc, free, strdup
 * and strndup of everything linked in.
 *
 *	for (size_t n = 0; failing_malloc_begin(n), !work(); n++) ...
 */
#ifndef SUPPORT_FAILING_MALLOC_H
#define SUPPORT_FAILING_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Makes allocation number nth from now (from 0) and all later ones fail; SIZE_MAX lets all succeed. */
void failing_malloc_begin(size_t nth);
/* Lets allocations succeed again. Returns whether one has failed since failing_malloc_begin. */
bool failing_malloc_end(void);
/* Returns the number of blocks that this thread allocated since failing_malloc_begin and has not freed. */
long failing_malloc_held(void);

#endif
