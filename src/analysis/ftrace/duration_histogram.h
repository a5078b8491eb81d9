/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duration_histogram.h - counts durations by length, in buckets that double in width or have equal width.
 *
 * Doubling buckets are: below 1, 1 to 2, 2 to 4 ... 512 to 1024, and the same for the next unit, as if 1024 of a unit
 * were one of the next; 22 buckets in all. The caller owns the histogram (duration_histogram_init, _deinit). One
 * thread.
 *
 *	struct duration_histogram h;
 *	duration_histogram_init(&h, &(struct duration_scale){.range = 100}, err);
 *	duration_histogram_add(&h, ns);
 *	struct duration_bucket bucket = duration_bucket_at(&h.scale, i);   // what h.counts[i] counts
 */
#ifndef ANALYSIS_FTRACE_DURATION_HISTOGRAM_H
#define ANALYSIS_FTRACE_DURATION_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/status.h>

#define DURATION_BUCKETS     22 /* Number of buckets, unless range and max of the scale are set. */
#define DURATION_BUCKETS_MAX 100000

struct duration_scale {
	bool in_ns; /* range, min and max are in nanoseconds; otherwise they are in microseconds. */
	uint64_t range; /* Width of a bucket; 0 if the widths of buckets double. */
	/* If range is not 0: the start of the second bucket, so that the first one contains all shorter durations. 0
	 * for no such bucket. */
	uint64_t min;
	uint64_t max; /* If range is not 0: the approximate start of the last bucket; 0 for DURATION_BUCKETS buckets. */
};

struct duration_bucket {
	/* Limits of doubling buckets are powers of two of the unit, so 1024 us stands for 1 ms. */
	uint64_t from_ns, to_ns;
	bool is_last; /* The bucket has no upper limit. */
};

struct duration_histogram {
	struct duration_scale scale;
	uint64_t *counts;
	size_t len;
	uint64_t count, total_ns, min_ns, max_ns; /* min_ns is UINT64_MAX if there are no durations. */
};

/* Fails with TALLY_INVALID if no bucket fits between min and max, or if there are too many buckets. */
TALLY_MUST_CHECK enum tally_status duration_histogram_init(
	struct duration_histogram *h, const struct duration_scale *scale, struct tally_error *err);
void duration_histogram_deinit(struct duration_histogram *h);
void duration_histogram_add(struct duration_histogram *h, uint64_t ns);
size_t duration_bucket_count(const struct duration_scale *scale);
size_t duration_bucket_of(const struct duration_scale *scale, uint64_t ns);
struct duration_bucket duration_bucket_at(const struct duration_scale *scale, size_t index);

#endif
