/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/student.h"

#include <math.h>

#include "base/array.h"
#include "unit_test.h"

static void assert_near(double value, double expected, double off)
{
	if (!(fabs(value - expected) <= off))
		fail_msg("%.9g is not %.9g", value, expected);
}

/* The values are from published tables. */
static void tails_are_those_of_tables(void **state)
{
	static const struct {
		double t, degrees, p;
	} cases[] = {{12.7062, 1, 0.05}, {63.6567, 1, 0.01}, {4.3027, 2, 0.05}, {2.7764, 4, 0.05}, {4.6041, 4, 0.01},
		{8.6103, 4, 0.001}, {3.1693, 10, 0.01}, {2.0484, 28, 0.05}, {2.5758, 1e7, 0.01}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_near(student_p(cases[i].t, cases[i].degrees), cases[i].p, 1e-4 * cases[i].p + 1e-6);
		assert_near(student_p(-cases[i].t, cases[i].degrees), cases[i].p, 1e-4 * cases[i].p + 1e-6);
		assert_near(student_quantile(cases[i].p, cases[i].degrees), cases[i].t, 1e-3 * cases[i].t);
	}
}

static void ends_of_the_range(void **state)
{
	(void)state;
	assert_true(student_p(0, 4) == 1);
	assert_true(student_p(INFINITY, 4) == 0);
	assert_true(student_p(NAN, 4) == 1);
	assert_true(student_p(3, 0) == 1);
	assert_near(student_p(1e6, 1), 2 / (acos(-1) * 1e6), 1e-12); /* The tail of the Cauchy distribution. */
	assert_true(student_p(1e5, 30) < 1e-100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tails_are_those_of_tables),
		cmocka_unit_test(ends_of_the_range),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
