/* SPDX-License-Identifier: Apache-2.0 */
/*
 * running_mean.h - computes the mean and the spread of values that come one after another.
 *
 * By Welford's method: differences from the mean are summed, as sums of squares lose the spread of large values that
 * differ little. The caller owns it; all zero is the mean of nothing.
 */
#ifndef BASE_RUNNING_MEAN_H
#define BASE_RUNNING_MEAN_H

#include <stdint.h>

struct running_mean {
	uint64_t n;
	double mean;
	double m2; /* sum of the squared differences from the mean */
};

void running_mean_add(struct running_mean *mean, double value);
/* The standard deviation of the values; 0 for fewer than two. */
double running_mean_deviation(const struct running_mean *mean);
/* The standard error of the mean itself; 0 for fewer than two values. */
double running_mean_error(const struct running_mean *mean);
/* The same in percent of the mean; 0 if that is 0. */
double running_mean_error_percent(const struct running_mean *mean);

#endif
