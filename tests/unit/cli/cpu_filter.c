/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/cpu_filter.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"
#include "cli/number_ranges.h"
#include "unit_test.h"

static void test_lists(void **state)
{
	bool *cpus;
	assert_int_equal(cpu_filter_parse("0-2, 7", &cpus, NULL), TALLY_OK);
	for (size_t i = 0; i < LIMIT_CPUS; i++)
		assert_int_equal(cpus[i], i <= 2 || i == 7);
	free(cpus);
}

static void test_lists_that_are_none(void **state)
{
	static const char *const texts[] = {"x", "1-x", "3-1", "-1", "1,,2", "99999999999999999999", "0-99999999"};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct tally_error err;
		bool *cpus = NULL;
		assert_int_equal(cpu_filter_parse(texts[i], &cpus, &err), TALLY_INVALID);
		assert_null(cpus);
	}
}

static void test_ranges(void **state)
{
	bool table[140] = {0};
	assert_true(number_ranges_parse("0-99,139", 140, table));
	assert_true(table[99] && !table[100] && table[139]);
	assert_false(number_ranges_parse("140", 140, table));
	assert_false(number_ranges_parse("high", 140, table));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_lists_that_are_none),
		cmocka_unit_test(test_ranges),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
