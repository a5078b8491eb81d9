/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buckets.h - groups items by a small number, and preserves the order of items with the same number (a counting sort).
 * The time is linear in the number of items.
 *
 *	uint32_t *begin = calloc(count_of_buckets + 2, sizeof(*begin));
 *	buckets_fill(bucket_of, count, count_of_buckets, begin, order);
 *	for (i = begin[b]; i < begin[b + 1]; i++) ... order[i] is in bucket b ...
 */
#ifndef BASE_BUCKETS_H
#define BASE_BUCKETS_H

#include <stddef.h>
#include <stdint.h>

#define BUCKET_NONE UINT32_MAX /* Bucket of items that are omitted from order. */

/* begin contains zeros and has two elements more than there are buckets. order has room for all items. */
void buckets_fill(const uint32_t *bucket_of, size_t count, size_t buckets, uint32_t *begin, uint32_t *order);

#endif
