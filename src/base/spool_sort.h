/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_sort.h - sorts the items of a spool in bounded memory.
 *
 * Blocks are sorted in place, on all CPUs, and then merged into a new spool, which replaces the first one; a sorted
 * spool is not changed. Like qsort, it may change the order of equal items. Several threads call compare.
 *
 *	if (!spool_sort(&spool, sizeof(struct row), compare_rows)) ... out of memory ...
 */
#ifndef BASE_SPOOL_SORT_H
#define BASE_SPOOL_SORT_H

#include "base/spool.h"

typedef int (*spool_compare)(const void *left, const void *right);

/* Returns false if out of memory; all items are still present then, in any order. Their address may change. */
bool spool_sort(struct spool *spool, size_t size, spool_compare compare);

#endif
