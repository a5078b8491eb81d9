/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buckets.h"

void buckets_fill(const uint32_t *bucket_of, size_t count, size_t buckets, uint32_t *begin, uint32_t *order)
{
	/* Counting two places ahead makes begin[b] the beginning of bucket b after the items were placed. */
	for (size_t i = 0; i < count; i++)
		if (bucket_of[i] != BUCKET_NONE)
			begin[bucket_of[i] + 2]++;
	for (size_t i = 2; i < buckets + 2; i++)
		begin[i] += begin[i - 1];
	for (size_t i = 0; i < count; i++)
		if (bucket_of[i] != BUCKET_NONE)
			order[begin[bucket_of[i] + 1]++] = (uint32_t)i;
}
