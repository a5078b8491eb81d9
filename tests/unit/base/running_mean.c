/* SPDX-License-Identifier: Apache-2.0 */
#include "base/running_mean.h"

#include <math.h>

#include "base/array.h"
#include "unit_test.h"

static struct running_mean mean_of(const double *values, size_t count)
{
	struct running_mean mean = {0};
	for (size_t i = 0; i < count; i++)
		running_mean_add(&mean, values[i]);
	return mean;
}

/* The sum of the squared differences from 5 is 32. */
static void spread_of_a_few(void **state)
{
	static const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
	struct running_mean mean = mean_of(values, ARRAY_LEN(values));
	assert_int_equal(mean.n, 8);
	assert_true(fabs(mean.mean - 5) < 1e-12);
	assert_true(fabs(running_mean_deviation(&mean) - sqrt(32.0 / 7)) < 1e-12);
	assert_true(fabs(running_mean_error(&mean) - sqrt(32.0 / 7 / 8)) < 1e-12);
	assert_true(fabs(running_mean_error_percent(&mean) - 20 * sqrt(32.0 / 7 / 8)) < 1e-12);
}

static void one_value_has_no_spread(void **state)
{
	struct running_mean none = {0}, one = mean_of((const double[]){7}, 1),
			    zeros = mean_of((const double[]){0, 0}, 2);
	assert_true(running_mean_deviation(&none) == 0 && running_mean_error_percent(&none) == 0);
	assert_true(one.mean == 7 && running_mean_deviation(&one) == 0 && running_mean_error(&one) == 0);
	assert_true(running_mean_error_percent(&zeros) == 0);
}

static void large_values_that_differ_little(void **state)
{
	struct running_mean mean = {0};
	for (int i = 0; i < 1000; i++)
		running_mean_add(&mean, 1e10 + (i % 2 ? 1000 : -1000));
	assert_true(fabs(mean.mean - 1e10) < 1);
	assert_true(fabs(running_mean_deviation(&mean) / (1000 * sqrt(1000.0 / 999)) - 1) < 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spread_of_a_few),
		cmocka_unit_test(one_value_has_no_spread),
		cmocka_unit_test(large_values_that_differ_little),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
