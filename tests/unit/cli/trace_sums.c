/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_sums.h"

#include <errno.h>
#include <math.h>

#include "unit_test.h"

static const struct trace_sum_key read_of_7 = {7, SYSCALLS_X86_64, 0}, write_of_7 = {7, SYSCALLS_X86_64, 1};

static void calls_are_summed_by_owner_and_number(void **state)
{
	struct trace_sums sums;
	const struct trace_sum_key of_8 = {8, SYSCALLS_X86_64, 0}, compat = {7, SYSCALLS_I386, 0};
	trace_sums_init(&sums);
	assert_true(trace_sums_add(&sums, &read_of_7, 300, 0));
	assert_true(trace_sums_add(&sums, &read_of_7, 100, ENOENT));
	assert_true(trace_sums_add(&sums, &write_of_7, 5, 0));
	assert_true(trace_sums_add(&sums, &of_8, 6, 0));
	assert_true(trace_sums_add(&sums, &compat, 7, 0));
	assert_int_equal(sums.sums.len, 4);
	const struct trace_sum *sum = trace_sums_at(&sums, &read_of_7);
	assert_int_equal(sum->calls, 2);
	assert_int_equal(sum->errors, 1);
	assert_int_equal(sum->total_ns, 400);
	assert_int_equal(sum->least_ns, 100);
	assert_int_equal(sum->most_ns, 300);
	trace_sums_deinit(&sums);
}

static void errors_are_counted_by_number(void **state)
{
	struct trace_sums sums;
	trace_sums_init(&sums);
	for (int i = 0; i < 3; i++)
		assert_true(trace_sums_add(&sums, &read_of_7, 1, EAGAIN));
	assert_true(trace_sums_add(&sums, &write_of_7, 1, EAGAIN));
	assert_true(trace_sums_add_errors(&sums, &read_of_7, EINTR, 40));
	assert_int_equal(sums.errors.len, 3);
	assert_int_equal(sums.errors.items[0].error, EAGAIN);
	assert_int_equal(sums.errors.items[0].calls, 3);
	assert_int_equal(sums.errors.items[1].sum, 1);
	assert_int_equal(sums.errors.items[2].error, EINTR);
	assert_int_equal(sums.errors.items[2].calls, 40);
	trace_sums_deinit(&sums);
}

/* The standard error of the mean of 2, 4, 4, 4, 5, 5, 7, 9 is sqrt(32 / 7 / 8), relative to 5. */
static void deviation_is_that_of_the_mean(void **state)
{
	static const uint64_t values[] = {2, 4, 4, 4, 5, 5, 7, 9};
	struct trace_sums sums;
	trace_sums_init(&sums);
	assert_true(trace_sums_add(&sums, &write_of_7, 1000, 0));
	assert_true(trace_sum_deviation(trace_sums_at(&sums, &write_of_7)) == 0);
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		assert_true(trace_sums_add(&sums, &read_of_7, values[i], 0));
	assert_true(fabs(trace_sum_deviation(trace_sums_at(&sums, &read_of_7)) - 15.1186) < 1e-4);
	trace_sums_deinit(&sums);
}

/* Durations of ten hours, plus or minus a microsecond: sums of squares in doubles lose that difference. */
static void deviation_of_long_calls(void **state)
{
	const uint64_t hours = UINT64_C(36000000000000);
	struct trace_sums sums;
	trace_sums_init(&sums);
	for (int i = 0; i < 100; i++)
		assert_true(trace_sums_add(&sums, &read_of_7, i % 2 ? hours + 1000 : hours - 1000, 0));
	double expected = 100 * 1000 * sqrt(100.0 / 99) / 10 / (double)hours;
	double got = trace_sum_deviation(trace_sums_at(&sums, &read_of_7));
	assert_true(fabs(got / expected - 1) < 1e-12);
	trace_sums_deinit(&sums);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_summed_by_owner_and_number),
		cmocka_unit_test(errors_are_counted_by_number),
		cmocka_unit_test(deviation_is_that_of_the_mean),
		cmocka_unit_test(deviation_of_long_calls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
