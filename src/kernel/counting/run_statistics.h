/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_statistics.h - computes statistics of repeated measurements: the median with its confidence interval, outliers,
 * and the comparison of two sets.
 *
 * Pure functions without assumptions on how the values are distributed; values are given sorted (run_values_sort). The
 * intervals aim at RUN_CONFIDENCE and say which confidence they reach; if it is known exactly, it is never less.
 *
 * Sources: the binomial distribution of order statistics; the Mann-Whitney U test and the Hodges-Lehmann shift with
 * its interval (Hollander and Wolfe, Nonparametric Statistical Methods, chapter 4); Tukey's fences.
 */
#ifndef KERNEL_COUNTING_RUN_STATISTICS_H
#define KERNEL_COUNTING_RUN_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/status.h>

#define RUN_CONFIDENCE 0.95
#define RUN_EXACT_MAX \
	50 /* values on a side up to which the exact distribution of U is used; above, the normal distribution */

struct tally_error;

struct run_interval {
	double low, high;
	double coverage; /* probability that the interval contains the true value */
	bool is_known; /* false: too few values for the confidence */
};

struct run_summary {
	size_t len;
	double median;
	struct run_interval interval; /* of the median */
	double low_fence, high_fence; /* values beyond are outliers: 1.5 quartile ranges from the quartiles */
	size_t outliers; /* 0 for fewer than 4 values */
};

struct run_comparison {
	double shift; /* the median of all differences b - a */
	struct run_interval interval; /* of the shift */
	double p; /* of the two-sided test that neither tends to be larger */
	bool is_exact; /* p is exact, not approximated */
	int sign; /* of b - a, if the interval leaves 0 out; 0: no difference shown */
};

void run_values_sort(double *values, size_t len);
/* 0 for none. */
double run_median(const double *sorted, size_t len);
/* The quantile by linear interpolation; part is 0..1. */
double run_quantile(const double *sorted, size_t len, double part);
struct run_interval run_median_interval(const double *sorted, size_t len);
struct run_summary run_summarise(const double *sorted, size_t len);
/* Both sides need a value (INVALID). The work grows with a_len x b_len. */
TALLY_MUST_CHECK enum tally_status run_compare(const double *a, size_t a_len, const double *b, size_t b_len,
	struct run_comparison *comparison, struct tally_error *err);

#endif
