/* SPDX-License-Identifier: Apache-2.0 */
/*
 * running_mean.h - computes the mean and standard deviation of a sequence of values.
 *
 * It uses Welford's method, which sums differences from the mean, because sums of squares lose precision for large
 * values that differ little. The caller owns the object; zeroes are the initial state.
 */
#ifndef BASE_RUNNING_MEAN_H
#define BASE_RUNNING_MEAN_H

#include <stdint.h>

struct running_mean {
	uint64_t n;
	double mean;
	double m2; /* Sum of the squared differences from the mean. */
};

void running_mean_add(struct running_mean *mean, double value);
/* Returns the standard deviation of the values; 0 for fewer than two. */
double running_mean_deviation(const struct running_mean *mean);
/* Returns the standard error of the mean; 0 for fewer than two values. */
double running_mean_error(const struct running_mean *mean);
/* Returns the standard error in percent of the mean; 0 if the mean is 0. */
double running_mean_error_percent(const struct running_mean *mean);

#endif
