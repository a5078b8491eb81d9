/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/run_resampling.h"

#include <math.h>

#include "base/array.h"
#include "unit_test.h"

#define RUNS  10
#define TRIES 400

#define VALUES(array) ((struct run_values){array, ARRAY_LEN(array)})

static uint64_t state;

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) * 0x1p-53;
}

/* Returns approximately normal values of this mean and relative spread. */
static double noisy(double mean, double spread)
{
	double sum = -6;
	for (int i = 0; i < 12; i++)
		sum += uniform();
	return mean * (1 + spread * sum);
}

static void a_clear_change_is_measured(void **state_)
{
	double a[] = {100, 101, 99, 100, 102, 98, 100, 101, 99, 100}, b[RUNS];
	for (size_t i = 0; i < RUNS; i++)
		b[i] = a[i] * 1.03;
	struct run_change c = run_change_of(VALUES(a), VALUES(b), 1);
	assert_true(fabs(c.change - 0.03) < 1e-12);
	assert_true(c.interval.is_known && c.interval.low > 0.015 && c.interval.low < 0.03);
	assert_true(c.interval.high > 0.03 && c.interval.high < 0.045);
	struct run_change again = run_change_of(VALUES(a), VALUES(b), 1);
	assert_true(c.interval.low == again.interval.low && c.interval.high == again.interval.high);
}

static void intervals_cover_what_they_say(void **state_)
{
	unsigned covered = 0;
	state = 88172645463325252u;
	for (unsigned try = 0; try < TRIES; try++) {
		double a[RUNS], b[RUNS];
		for (size_t i = 0; i < RUNS; i++) {
			a[i] = noisy(1000, 0.02);
			b[i] = noisy(1030, 0.02);
		}
		struct run_interval interval = run_change_of(VALUES(a), VALUES(b), try).interval;
		covered += interval.low <= 0.03 && interval.high >= 0.03;
	}
	/* 95 % of 400 is 380, with a standard deviation of 4.4. */
	assert_in_range(covered, 366, 394);
}

static void what_cannot_be_said_is_not(void **state_)
{
	double none[] = {0, 0, 0, 0, 0}, few[] = {5, 6}, some[] = {5, 6, 5, 6, 5}, alike[] = {5, 5, 5, 5, 5};
	assert_true(isinf(run_change_of(VALUES(none), VALUES(some), 1).change));
	assert_false(run_change_of(VALUES(none), VALUES(some), 1).interval.is_known);
	assert_true(run_change_of(VALUES(none), VALUES(none), 1).change == 0);
	assert_true(run_change_of(VALUES(some), VALUES(none), 1).change == -1);
	assert_false(run_change_of(VALUES(few), VALUES(some), 1).interval.is_known);
	struct run_interval point = run_change_of(VALUES(alike), VALUES(alike), 1).interval;
	assert_true(point.is_known && point.low == 0 && point.high == 0);
	assert_true(run_noise_floor(VALUES(few), 2, 2, 1) < 0);
	assert_true(run_noise_floor(VALUES(none), 5, 5, 1) < 0);
	assert_true(run_noise_floor(VALUES(alike), 5, 5, 1) == 0);
}

static void ranks_are_permuted_exactly(void **state_)
{
	double a[] = {1, 2, 3}, b[] = {4, 5, 6};
	assert_true(fabs(run_rank_p(VALUES(a), VALUES(b)) - 0.1) < 1e-12);
	/* Ties: with {1,1} and {1,2}, the 2 is equally likely on either side. */
	double c[] = {1, 1}, d[] = {1, 2};
	assert_true(fabs(run_rank_p(VALUES(c), VALUES(d)) - 1) < 1e-12);
	double e[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, f[] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
	assert_true(fabs(run_rank_p(VALUES(e), VALUES(f)) - 2.0 / 184756) < 1e-12);
	assert_true(run_rank_p(VALUES(e), VALUES(e)) == 1);
	assert_true(run_rank_p((struct run_values){0}, VALUES(e)) == 1);
}

static void many_runs_are_approximated(void **state_)
{
	double a[30], b[30];
	for (size_t i = 0; i < 30; i++) {
		a[i] = (double)(i % 7);
		b[i] = (double)(i % 7) + 3;
	}
	double p = run_rank_p(VALUES(a), VALUES(b));
	assert_true(p > 0 && p < 1e-4);
}

static void noise_is_that_of_the_runs(void **state_)
{
	double a[40];
	state = 88172645463325252u;
	for (size_t i = 0; i < 40; i++)
		a[i] = noisy(1000, 0.02);
	/* 1.96 standard errors of the difference of two means of ten runs. */
	double floor = run_noise_floor(VALUES(a), 10, 10, 1);
	assert_true(floor > 0.012 && floor < 0.024);
	double wider = run_noise_floor(VALUES(a), 5, 5, 1);
	assert_true(fabs(wider / floor - sqrt(2)) < 0.02);
}

static void assert_adjusted(enum run_correction correction, const double *expected)
{
	double p[] = {0.04, 0.001, 0.03, 0.5};
	struct tally_error err;
	assert_int_equal(run_adjust(p, 4, correction, &err), TALLY_OK);
	for (size_t i = 0; i < 4; i++)
		assert_true(fabs(p[i] - expected[i]) < 1e-12);
}

static void many_comparisons_are_corrected(void **state_)
{
	assert_adjusted(RUN_CORRECT_HOLM, (double[]){0.09, 0.004, 0.09, 0.5});
	assert_adjusted(RUN_CORRECT_BH, (double[]){0.16 / 3, 0.004, 0.16 / 3, 0.5});
	assert_adjusted(RUN_CORRECT_NONE, (double[]){0.04, 0.001, 0.03, 0.5});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clear_change_is_measured),
		cmocka_unit_test(intervals_cover_what_they_say),
		cmocka_unit_test(what_cannot_be_said_is_not),
		cmocka_unit_test(ranks_are_permuted_exactly),
		cmocka_unit_test(many_runs_are_approximated),
		cmocka_unit_test(noise_is_that_of_the_runs),
		cmocka_unit_test(many_comparisons_are_corrected),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
