/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ftrace/duration_histogram.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

static uint64_t duration_unit(const struct duration_scale *scale)
{
	return scale->in_ns ? 1 : 1000;
}

size_t duration_bucket_count(const struct duration_scale *scale)
{
	if (scale->range == 0 || scale->max == 0)
		return DURATION_BUCKETS;
	uint64_t span = scale->max > scale->min ? scale->max - scale->min : 0;
	uint64_t count = span / scale->range;
	return MIN(count, (uint64_t)DURATION_BUCKETS_MAX) + (scale->min ? 2 : 1);
}

size_t duration_bucket_of(const struct duration_scale *scale, uint64_t ns)
{
	uint64_t value = ns / duration_unit(scale), index;
	if (scale->range == 0)
		index = value ? 64 - (unsigned)__builtin_clzll(value) : 0;
	else if (scale->min)
		index = value < scale->min ? 0 : 1 + (value - scale->min) / scale->range;
	else
		index = value / scale->range;
	return MIN(index, (uint64_t)duration_bucket_count(scale) - 1);
}

struct duration_bucket duration_bucket_at(const struct duration_scale *scale, size_t index)
{
	uint64_t unit = duration_unit(scale);
	struct duration_bucket bucket = {.is_last = index + 1 >= duration_bucket_count(scale)};
	if (scale->range == 0) {
		bucket.from_ns = index ? unit << (index - 1) : 0;
		bucket.to_ns = unit << index;
	} else {
		uint64_t first = scale->min ? scale->min : scale->range;
		bucket.from_ns = index ? (first + (index - 1) * scale->range) * unit : 0;
		bucket.to_ns = (first + index * scale->range) * unit;
	}
	return bucket;
}

enum tally_status duration_histogram_init(
	struct duration_histogram *h, const struct duration_scale *scale, struct tally_error *err)
{
	size_t len = duration_bucket_count(scale);
	*h = (struct duration_histogram){.scale = *scale, .len = len, .min_ns = UINT64_MAX};
	if (scale->max && scale->max < scale->min + scale->range)
		return error_set(err, TALLY_INVALID, "--max-latency must be larger than min-latency + bucket-range");
	if (len > DURATION_BUCKETS_MAX)
		return error_set(err, TALLY_INVALID,
			"--bucket-range is too small for --max-latency: more than %d buckets", DURATION_BUCKETS_MAX);
	h->counts = calloc(len, sizeof(*h->counts));
	return h->counts ? TALLY_OK : error_nomem(err);
}

void duration_histogram_deinit(struct duration_histogram *h)
{
	free(h->counts);
	h->counts = NULL;
}

void duration_histogram_add(struct duration_histogram *h, uint64_t ns)
{
	h->counts[duration_bucket_of(&h->scale, ns)]++;
	h->count++;
	h->total_ns += ns;
	h->min_ns = MIN(h->min_ns, ns);
	h->max_ns = MAX(h->max_ns, ns);
}
