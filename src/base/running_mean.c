/* SPDX-License-Identifier: Apache-2.0 */
#include "base/running_mean.h"

#include <math.h>

void running_mean_add(struct running_mean *mean, double value)
{
	double delta = value - mean->mean;
	mean->n++;
	mean->mean += delta / (double)mean->n;
	mean->m2 += delta * (value - mean->mean);
}

double running_mean_deviation(const struct running_mean *mean)
{
	return mean->n < 2 ? 0 : sqrt(mean->m2 / (double)(mean->n - 1));
}

double running_mean_error(const struct running_mean *mean)
{
	return mean->n < 2 ? 0 : sqrt(mean->m2 / (double)(mean->n - 1) / (double)mean->n);
}

double running_mean_error_percent(const struct running_mean *mean)
{
	return mean->mean != 0 ? 100.0 * running_mean_error(mean) / mean->mean : 0;
}
