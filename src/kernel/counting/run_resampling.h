/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_resampling.h - estimates the certainty of a change between two sets of runs: bootstrap intervals, an exact rank
 * test that handles ties, the noise between runs of one program, and p values corrected for multiple comparisons.
 *
 * Pure and deterministic: random draws start from a seed. Values are not negative and need not be sorted.
 * run_statistics.h is for a single comparison of measured counts.
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

#define RUN_RESAMPLES	   2000 /* Number of random draws for an interval or a noise floor. */
#define RUN_RESAMPLE_MIN   4 /* Minimum number of runs: per side for an interval, in total for a noise floor. */
#define RUN_PERMUTED_MAX   40 /* Maximum number of runs, both sides together, for the exact permutation. */
#define RUN_NOISE_QUANTILE 0.95

struct run_values {
	const double *items;
	size_t len;
};

struct run_change { /* Relative change of the mean: 0.03 is 3 % more. */
	double base_mean, new_mean;
	double change; /* INFINITY if only the base is 0; 0 if both are. */
	struct run_interval interval; /* Of RUN_CONFIDENCE; unknown if there are too few runs or one side is all 0. */
};

enum run_correction { RUN_CORRECT_HOLM, RUN_CORRECT_BH, RUN_CORRECT_NONE };

/* Computes the change from base to other. */
struct run_change run_change_of(struct run_values base, struct run_values other, uint64_t seed);
/* Returns the two-sided p value of the rank test; 1 if a side is empty or memory runs out. */
double run_rank_p(struct run_values base, struct run_values other);
/* Returns the noise between runs of one program: if runs are split at random into sides of base_len and other_len runs,
 * a fraction RUN_NOISE_QUANTILE of the splits shows a relative change below the result. Negative if there are too few
 * runs, too many of them are 0, or memory runs out. */
double run_noise_floor(struct run_values same, size_t base_len, size_t other_len, uint64_t seed);
/* Replaces p values by adjusted ones, which can be compared with the significance level. Holm bounds the probability of
 * any false positive, Benjamini-Hochberg the fraction of false positives among all positives. */
TALLY_MUST_CHECK enum tally_status run_adjust(
	double *p, size_t count, enum run_correction correction, struct tally_error *err);

#endif
