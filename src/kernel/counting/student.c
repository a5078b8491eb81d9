/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/student.h"

#include <math.h>

#define TERMS_MAX    200 /* Maximum number of terms of the fraction; some dozens suffice. */
#define PRECISION    1e-14
#define TINY	     1e-300
#define HALVINGS     200
#define QUANTILE_MAX 1e9

static double away_from_zero(double value)
{
	return fabs(value) < TINY ? TINY : value;
}

/* Continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;
	for (int m = 1; m <= TERMS_MAX; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / away_from_zero(1 + even * d);
		c = away_from_zero(1 + even / c);
		value *= d * c;
		d = 1 / away_from_zero(1 + odd * d);
		c = away_from_zero(1 + odd / c);
		value *= d * c;
		if (fabs(d * c - 1) < PRECISION)
			break;
	}
	return value;
}

/* lgamma would store the sign in a global variable, which is not thread-safe. */
static double log_gamma(double value)
{
	int sign;
	return lgamma_r(value, &sign);
}

/* Regularised incomplete beta function: the part of the distribution below x. */
static double beta_part(double a, double b, double x)
{
	if (!(x > 0))
		return 0;
	if (!(x < 1))
		return 1;
	double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2)) /* The fraction converges fast below this bound. */
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_p(double t, double degrees)
{
	if (isnan(t) || !(degrees > 0))
		return 1;
	if (isinf(t))
		return 0;
	return beta_part(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double student_quantile(double p, double degrees)
{
	double low = 0, high = 1;
	while (high < QUANTILE_MAX && student_p(high, degrees) > p)
		high *= 2;
	for (int i = 0; i < HALVINGS && low < high; i++) {
		double middle = low + (high - low) / 2;
		if (middle <= low || middle >= high)
			break;
		if (student_p(middle, degrees) > p)
			low = middle;
		else
			high = middle;
	}
	return high;
}
