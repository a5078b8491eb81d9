/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_resampling.h - estimates the certainty of a change between two sets of runs: bootstrap intervals, an exact rank
 * test that handles ties, the noise between runs of one program, and p values corrected for their number.
 *
 * Pure functions, deterministic: the random draws start from a seed. Values are amounts: not negative. They need not be
 * sorted. Beside run_statistics.h, which is about one comparison of measured counts.
 *
 * Sources: Efron and Tibshirani, An Introduction to the Bootstrap, chapter 12 (bootstrap-t); the permutation
 * distribution of midranks (Lehmann, Nonparametrics, 1.4); Holm 1979; Benjamini and Hochberg 1995.
 *
 *	struct run_values a = {base, 10}, b = {new, 10};
 *	struct run_change change = run_change_of(a, b, seed);
 *	double p = run_rank_p(a, b);
 */
#ifndef KERNEL_COUNTING_RUN_RESAMPLING_H
#define KERNEL_COUNTING_RUN_RESAMPLING_H

#include <stdint.h>

#include "kernel/counting/run_statistics.h"

#define RUN_RESAMPLES	   2000
#define RUN_RESAMPLE_MIN   4 /* runs on a side, for an interval or a noise floor */
#define RUN_PERMUTED_MAX   40 /* runs on both sides up to which ranks are permuted exactly */
#define RUN_NOISE_QUANTILE 0.95

struct run_values {
	const double *items;
	size_t len;
};

struct run_change { /* of the mean, relative: 0.03 is 3 % more */
	double base_mean, new_mean;
	double change; /* INFINITY where only the base is 0, 0 where both are */
	struct run_interval interval; /* RUN_CONFIDENCE; unknown with too few runs, or a side that is all 0 */
};

enum run_correction { RUN_CORRECT_HOLM, RUN_CORRECT_BH, RUN_CORRECT_NONE };

struct run_change run_change_of(struct run_values base, struct run_values other, uint64_t seed);
/* Two-sided: that neither side tends to have more. 1 where a side is empty, and where memory runs out. */
double run_rank_p(struct run_values base, struct run_values other);
/* The noise between runs: if runs of one program are split at random into sides of these sizes, the share
 * RUN_NOISE_QUANTILE of the comparisons shows a relative change below the returned one. Negative: too few runs, or only
 * zeros. */
double run_noise_floor(struct run_values same, size_t base_len, size_t other_len, uint64_t seed);
/* Replaces p values by adjusted ones, in their order: compare these with the level. Holm bounds the chance of any false
 * alarm, Benjamini-Hochberg the share of false ones among all alarms. */
TALLY_MUST_CHECK enum tally_status run_adjust(
	double *p, size_t count, enum run_correction correction, struct tally_error *err);

#endif
