/* SPDX-License-Identifier: Apache-2.0 */
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "unit_test.h"

static void compares(void **state)
{
	assert_true(COMPARE(1, 2) < 0);
	assert_true(COMPARE(2, 1) > 0);
	assert_int_equal(COMPARE(2, 2), 0);
	uint64_t largest = UINT64_MAX, none = 0;
	assert_true(COMPARE(largest, none) > 0); /* The difference would be negative. */
	assert_int_equal(COMPARE(NAN, 1.0), 0);
}

static void finds_the_first_that_is_not_before(void **state)
{
	static const int values[] = {1, 3, 3, 5};
	static const struct {
		int wanted;
		size_t not_below, above;
	} rows[] = {{0, 0, 0}, {1, 0, 1}, {2, 1, 1}, {3, 1, 3}, {4, 3, 3}, {5, 3, 4}, {6, 4, 4}};
	for (size_t row = 0; row < ARRAY_LEN(rows); row++) {
		size_t not_below, above;
		LOWER_BOUND(not_below, ARRAY_LEN(values), i, values[i] < rows[row].wanted);
		LOWER_BOUND(above, ARRAY_LEN(values), i, values[i] <= rows[row].wanted);
		assert_int_equal(not_below, rows[row].not_below);
		assert_int_equal(above, rows[row].above);
	}
}

static void finds_within_a_part(void **state)
{
	static const int values[] = {9, 1, 3, 5, 0};
	size_t found;
	LOWER_BOUND_IN(found, 1, 4, i, values[i] < 4);
	assert_int_equal(found, 3);
	LOWER_BOUND_IN(found, 1, 4, i, values[i] < 7);
	assert_int_equal(found, 4);
	LOWER_BOUND_IN(found, 2, 2, i, values[i] < 7);
	assert_int_equal(found, 2);
	LOWER_BOUND_IN(found, 3, 1, i, values[i] < 7);
	assert_int_equal(found, 3);
}

static void sorts(void **state)
{
	int ints[] = {3, -2147483647, 2147483647};
	double doubles[] = {0.5, -1, 0.25};
	const char *strings[] = {"b", "", "a"};
	qsort(ints, ARRAY_LEN(ints), sizeof(*ints), order_ints);
	qsort(doubles, ARRAY_LEN(doubles), sizeof(*doubles), order_doubles);
	qsort(strings, ARRAY_LEN(strings), sizeof(*strings), order_strings);
	assert_true(ints[0] < 0 && ints[1] == 3);
	assert_true(doubles[0] < 0 && doubles[1] < 0.3);
	assert_string_equal(strings[0], "");
	assert_string_equal(strings[1], "a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compares),
		cmocka_unit_test(finds_the_first_that_is_not_before),
		cmocka_unit_test(finds_within_a_part),
		cmocka_unit_test(sorts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
