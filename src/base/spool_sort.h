/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_sort.h - sorts the items of a spool in memory that does not grow with their number.
 *
 * Blocks are sorted in place, on all CPUs, and then merged into a new spool, which replaces the first one; a spool that
 * is already sorted stays as it is. Equal items keep their order only as far as qsort keeps it. Several threads call
 * compare.
 *
 *	if (!spool_sort(&spool, sizeof(struct row), compare_rows)) ... out of memory ...
 */
#ifndef BASE_SPOOL_SORT_H
#define BASE_SPOOL_SORT_H

#include "base/spool.h"

typedef int (*spool_compare)(const void *left, const void *right);

/* False: out of memory; the items are complete then, but in any order. Their address may change. */
bool spool_sort(struct spool *spool, size_t size, spool_compare compare);

#endif
