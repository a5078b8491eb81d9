/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_statistics.h - computes statistics of repeated measurements: the median with its confidence interval, outliers,
 * and the comparison of two sets.
 *
 * Pure; the functions assume no distribution of the values, which must be sorted (run_values_sort). The coverage of an
 * interval is at least RUN_CONFIDENCE if it can be computed exactly, and approximately RUN_CONFIDENCE otherwise.
 *
 * Sources: the binomial distribution of order statistics; the Mann-Whitney U test and the Hodges-Lehmann shift with its
 * interval (Hollander and Wolfe, Nonparametric Statistical Methods, chapter 4); Tukey's fences.
 */
#ifndef KERNEL_COUNTING_RUN_STATISTICS_H
#define KERNEL_COUNTING_RUN_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/status.h>

#define RUN_CONFIDENCE 0.95
#define RUN_EXACT_MAX \
	50 /* Maximum number of values per side for the exact distribution of U; beyond, a normal one is used. */

struct tally_error;

struct run_interval {
	double low, high;
	double coverage; /* Probability that the interval contains the true value. */
	bool is_known; /* False if there are too few values for the confidence. */
};

struct run_summary {
	size_t len;
	double median;
	struct run_interval interval; /* Interval of the median. */
	double low_fence, high_fence; /* Bounds of outliers, 1.5 interquartile ranges beyond the quartiles. */
	size_t outliers; /* Number of outliers; 0 for fewer than 4 values. */
};

struct run_comparison {
	double shift; /* Median of all differences b - a. */
	struct run_interval interval; /* Interval of the shift. */
	double p; /* p value of the two-sided test of the hypothesis that neither side tends to be larger. */
	bool is_exact; /* False if p is an approximation. */
	int sign; /* Sign of b - a if the interval does not contain 0, else 0. */
};

/* Sorts the values in ascending order. */
void run_values_sort(double *values, size_t len);
/* Returns 0 if len is 0. */
double run_median(const double *sorted, size_t len);
/* Returns the quantile by linear interpolation; part is between 0 and 1. */
double run_quantile(const double *sorted, size_t len, double part);
struct run_interval run_median_interval(const double *sorted, size_t len);
struct run_summary run_summarise(const double *sorted, size_t len);
/* Returns TALLY_INVALID if a side is empty. Takes time proportional to a_len x b_len. */
TALLY_MUST_CHECK enum tally_status run_compare(const double *a, size_t a_len, const double *b, size_t b_len,
	struct run_comparison *comparison, struct tally_error *err);

#endif
