/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duration_histogram.h - counts durations by length: in buckets that double, or of equal width.
 *
 * Doubling: below 1, 1 to 2, 2 to 4 ... 512 to 1024, and the same for the next unit (a thousand is taken for 1024), 22
 * buckets in all. The caller owns the histogram (duration_histogram_init, _deinit). One thread.
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

#define DURATION_BUCKETS     22 /* unless a scale says where the last one begins */
#define DURATION_BUCKETS_MAX 100000

struct duration_scale {
	bool in_ns; /* the unit of what follows is the nanosecond, otherwise the microsecond */
	uint64_t range; /* width of a bucket; 0: they double */
	uint64_t min; /* where the second bucket begins; 0: there is no such first one */
	uint64_t max; /* where the last one begins, about; 0: after 21 buckets */
};

struct duration_bucket {
	uint64_t from_ns, to_ns; /* of doubling ones, those of a unit of 1024 */
	bool is_last; /* everything from from_ns on */
};

struct duration_histogram {
	struct duration_scale scale;
	uint64_t *counts;
	size_t len;
	uint64_t count, total_ns, min_ns, max_ns; /* min_ns: UINT64_MAX if there are none */
};

/* INVALID: no bucket fits between min and max, or there are too many. */
TALLY_MUST_CHECK enum tally_status duration_histogram_init(
	struct duration_histogram *h, const struct duration_scale *scale, struct tally_error *err);
void duration_histogram_deinit(struct duration_histogram *h);
void duration_histogram_add(struct duration_histogram *h, uint64_t ns);
size_t duration_bucket_count(const struct duration_scale *scale);
size_t duration_bucket_of(const struct duration_scale *scale, uint64_t ns);
struct duration_bucket duration_bucket_at(const struct duration_scale *scale, size_t index);

#endif
