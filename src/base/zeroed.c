/* SPDX-License-Identifier: Apache-2.0 */
#include "base/zeroed.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

#define CACHE_LINE 64

void *zeroed_new(size_t count, size_t size)
{
	size_t bytes;
	if (!checked_mul(count ? count : 1, size, &bytes) || bytes > SIZE_MAX - CACHE_LINE)
		return NULL;
	bytes = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	/* Compilers combine malloc and memset into calloc, but not aligned_alloc. */
	void *zeros = aligned_alloc(CACHE_LINE, bytes);
	return zeros ? memset(zeros, 0, bytes) : NULL;
}
