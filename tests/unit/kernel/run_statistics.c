/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/run_statistics.h"

#include <math.h>

#include "base/array.h"
#include "unit_test.h"

#define LEN(array) (ARRAY_LEN(array))

static void assert_near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.17g is not %.17g", value, expected);
}

static void medians_and_quantiles(void **state)
{
	(void)state;
	double values[] = {9, 1, 4, 2};
	run_values_sort(values, LEN(values));
	assert_near(values[0], 1, 0);
	assert_near(values[3], 9, 0);
	assert_near(run_median(values, 0), 0, 0);
	assert_near(run_median(values, 1), 1, 0);
	assert_near(run_median(values, 3), 2, 0);
	assert_near(run_median(values, 4), 3, 0);
	assert_near(run_quantile(values, 4, 0.25), 1.75, 1e-12); /* R: quantile(c(1,2,4,9)) */
	assert_near(run_quantile(values, 4, 0.75), 5.25, 1e-12);
	assert_near(run_quantile(values, 4, 1), 9, 0);
	assert_near(run_quantile(values, 0, 0.5), 0, 0);
}

/* Compares with a published table of ranks of confidence intervals for the median, and with binomial sums computed in
 * integers. */
static void intervals_of_the_median_are_the_tables(void **state)
{
	(void)state;
	static const struct {
		size_t len, low, high;
		double coverage;
	} rows[] = {
		{6, 1, 6, 0.96875},
		{9, 2, 8, 0.9609375},
		{10, 2, 9, 0.978515625},
		{20, 6, 15, 0.9586105346679688},
		{25, 8, 18, 0.9567147493362427},
		{100, 40, 61, 0.9647997997822952},
		{1000, 469, 532, 0.9537088026395019},
	};
	double values[1000];
	for (size_t i = 0; i < LEN(values); i++)
		values[i] = (double)(i + 1);
	for (size_t i = 0; i < LEN(rows); i++) {
		struct run_interval interval = run_median_interval(values, rows[i].len);
		assert_true(interval.is_known);
		assert_near(interval.low, (double)rows[i].low, 0);
		assert_near(interval.high, (double)rows[i].high, 0);
		assert_near(interval.coverage, rows[i].coverage, 1e-9);
	}
	for (size_t len = 0; len <= 5; len++)
		assert_false(run_median_interval(values, len).is_known);
}

static void outliers_lie_beyond_the_fences(void **state)
{
	(void)state;
	static const double values[] = {-50, 10, 11, 12, 13, 14, 15, 16, 17, 99};
	struct run_summary summary = run_summarise(values, LEN(values));
	assert_int_equal(summary.outliers, 2);
	assert_near(summary.median, 13.5, 0);
	assert_near(summary.low_fence, 11.25 - 1.5 * 4.5, 1e-12);
	assert_near(summary.high_fence, 15.75 + 1.5 * 4.5, 1e-12);
	static const double few[] = {1, 1, 1000};
	assert_int_equal(run_summarise(few, LEN(few)).outliers, 0);
	static const double same[] = {7, 7, 7, 7, 7, 7};
	assert_int_equal(run_summarise(same, LEN(same)).outliers, 0);
}

static struct run_comparison compared(const double *a, size_t a_len, const double *b, size_t b_len)
{
	struct run_comparison comparison;
	assert_int_equal(run_compare(a, a_len, b, b_len, &comparison, NULL), TALLY_OK);
	return comparison;
}

/* Permeability of membranes: Hollander and Wolfe, table 4.1, the example of R's wilcox.test. */
static const double term[] = {0.73, 0.80, 0.83, 1.04, 1.38, 1.45, 1.46, 1.64, 1.89, 1.91};
static const double weeks[] = {0.74, 0.88, 0.90, 1.15, 1.21};

static void the_textbook_example(void **state)
{
	(void)state;
	struct run_comparison c = compared(weeks, LEN(weeks), term, LEN(term));
	assert_true(c.is_exact);
	assert_near(c.p, 0.2544, 5e-5);
	assert_near(c.shift, 0.305, 1e-12);
	assert_true(c.interval.is_known);
	assert_near(c.interval.low, -0.15, 1e-12);
	assert_near(c.interval.high, 0.76, 1e-12);
	assert_near(c.interval.coverage, 0.96003996, 1e-8);
	assert_int_equal(c.sign, 0);
	struct run_comparison other = compared(term, LEN(term), weeks, LEN(weeks));
	assert_near(other.p, c.p, 1e-12);
	assert_near(other.shift, -c.shift, 1e-12);
	assert_near(other.interval.low, -c.interval.high, 1e-12);
}

/* Critical values of U, two-sided at 5 %, from published tables: 2 for 5 and 5 values, 13 for 8 and 8, 23 for 10 and
 * 10, 127 for 20 and 20. */
static void critical_values_are_the_tables(void **state)
{
	(void)state;
	static const struct {
		size_t len, critical;
		double coverage;
	} rows[] = {{4, 0, 0.97142857}, {5, 2, 0.96825397}, {8, 13, 0.95011655}, {10, 23, 0.95674294},
		{20, 127, 0.95090967}};
	for (size_t row = 0; row < LEN(rows); row++) {
		double a[20], b[20], differences[400];
		size_t len = rows[row].len;
		for (size_t i = 0; i < len; i++) {
			a[i] = (double)i * 1.001;
			b[i] = 0.3 + (double)(i * i);
		}
		for (size_t i = 0; i < len * len; i++)
			differences[i] = b[i / len] - a[i % len];
		run_values_sort(differences, len * len);
		struct run_comparison c = compared(a, len, b, len);
		assert_near(c.interval.low, differences[rows[row].critical], 1e-12);
		assert_near(c.interval.high, differences[len * len - 1 - rows[row].critical], 1e-12);
		assert_near(c.interval.coverage, rows[row].coverage, 1e-8);
	}
}

static void apart_is_told_apart(void **state)
{
	(void)state;
	static const double a[] = {1, 2, 3, 4}, b[] = {11, 12.5, 13, 14};
	struct run_comparison c = compared(a, 4, b, 4);
	assert_near(c.p, 2.0 / 70, 1e-12);
	assert_int_equal(c.sign, 1);
	assert_int_equal(compared(b, 4, a, 4).sign, -1);
	c = compared(a, 3, b, 3); /* 1 of the 20 orders on each side is more than 2.5 %. */
	assert_false(c.interval.is_known);
	assert_int_equal(c.sign, 0);
	assert_near(c.p, 0.1, 1e-12);
}

static void ties_take_the_corrected_normal(void **state)
{
	(void)state;
	static const double a[] = {1, 2, 2}, b[] = {2, 3, 4};
	/* U is 8, its expected value 4.5 and its variance 4.65, so z is 3 / 2.1564. */
	struct run_comparison c = compared(a, 3, b, 3);
	assert_false(c.is_exact);
	assert_near(c.p, 0.16416, 5e-5);
	static const double same[] = {5, 5, 5, 5, 5, 5};
	c = compared(same, 6, same, 6);
	assert_near(c.p, 1, 0);
	assert_near(c.shift, 0, 0);
	assert_int_equal(c.sign, 0);
}

static void many_values_take_the_normal(void **state)
{
	(void)state;
	double a[60], b[60];
	for (size_t i = 0; i < 60; i++) {
		a[i] = (double)i;
		b[i] = (double)i + 0.5;
	}
	struct run_comparison c = compared(a, 60, b, 60);
	assert_false(c.is_exact);
	assert_near(c.shift, 0.5, 1e-12);
	/* U is 1830; (1830 - 1800 - 0.5) / sqrt(60 * 60 * 121 / 12) is 0.15483. */
	assert_near(c.p, 0.87696, 5e-5);
	assert_true(c.interval.is_known);
	assert_int_equal(c.sign, 0);
}

static void nothing_is_refused(void **state)
{
	(void)state;
	struct run_comparison c;
	assert_int_equal(run_compare(term, 0, weeks, 1, &c, NULL), TALLY_INVALID);
	assert_int_equal(run_compare(term, 1, weeks, 0, &c, NULL), TALLY_INVALID);
	assert_int_equal(compared(term, 1, weeks, 1).sign, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(medians_and_quantiles),
		cmocka_unit_test(intervals_of_the_median_are_the_tables),
		cmocka_unit_test(outliers_lie_beyond_the_fences),
		cmocka_unit_test(the_textbook_example),
		cmocka_unit_test(critical_values_are_the_tables),
		cmocka_unit_test(apart_is_told_apart),
		cmocka_unit_test(ties_take_the_corrected_normal),
		cmocka_unit_test(many_values_take_the_normal),
		cmocka_unit_test(nothing_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
