/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the schedule of intervals: deadlines are absolute times, whatever the delays. */
#include "verbs/stat/stat_run.h"

#include "unit_test.h"

#define MS 1000000u

static void test_on_time(void **state)
{
	(void)state;
	assert_int_equal(stat_next_deadline(100 * MS, 100 * MS, 100 * MS), 200 * MS);
	assert_int_equal(stat_next_deadline(100 * MS, 100 * MS, 99 * MS), 100 * MS);
}

static void test_no_drift(void **state)
{
	(void)state;
	uint64_t start = 12345, due = start + 10 * MS;
	for (unsigned i = 1; i <= 100000; i++) { /* Each deadline is missed by a different delay. */
		assert_int_equal(due, start + (uint64_t)i * 10 * MS);
		due = stat_next_deadline(due, 10 * MS, due + i * 7919 % (10 * MS));
	}
}

static void test_missed(void **state)
{
	(void)state;
	assert_int_equal(stat_next_deadline(100, 100, 199), 200);
	assert_int_equal(stat_next_deadline(100, 100, 200), 300);
	assert_int_equal(stat_next_deadline(100, 100, 1050), 1100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_on_time),
		cmocka_unit_test(test_no_drift),
		cmocka_unit_test(test_missed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
