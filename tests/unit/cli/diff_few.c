/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/comparing/diff_few.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "unit_test.h"

#define TRIES 2000

static void what_ranks_can_tell(void **state)
{
	static const struct {
		size_t base, other, rows;
		enum run_correction correction;
		double level, least;
		size_t needed;
	} cases[] = {
		{3, 3, 1, RUN_CORRECT_HOLM, 0.05, 0.1, 4},
		{4, 4, 1, RUN_CORRECT_HOLM, 0.05, 2.0 / 70, 0},
		{5, 5, 12, RUN_CORRECT_HOLM, 0.005, 2.0 / 252, 8},
		{5, 5, 12, RUN_CORRECT_NONE, 0.005, 2.0 / 252, 6},
		{5, 5, 0, RUN_CORRECT_BH, 0.01, 2.0 / 252, 0},
		{10, 10, 12, RUN_CORRECT_HOLM, 0.005, 2.0 / 184756, 0},
		{1, 5, 1, RUN_CORRECT_HOLM, 0.05, 2.0 / 6, 4},
		{0, 5, 1, RUN_CORRECT_HOLM, 0.05, 1, 4},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct diff_sides sides = {.base = cases[i].base, .other = cases[i].other};
		assert_true(fabs(diff_few_least_p(&sides) - cases[i].least) < 1e-9);
		assert_int_equal(
			diff_few_needed(&sides, cases[i].correction, cases[i].rows, cases[i].level), cases[i].needed);
	}
}

static struct diff_change compared(const struct diff_sides *sides, const double *values, const uint64_t *samples)
{
	const struct diff_few_row row = {values, samples};
	struct diff_few_spread spread = {0};
	struct diff_change change = {0};
	diff_few_spread_add(&spread, sides, &row);
	diff_few_compare(&spread, sides, &row, &change);
	return change;
}

static void what_is_gone_is_seen_by_few(void **state)
{
	const struct diff_sides sides = {.base = 3, .other = 3};
	static const double values[] = {22, 21.5, 22.3, 0, 0, 0};
	static const uint64_t samples[] = {220, 215, 223, 0, 0, 0};
	static const uint64_t single[] = {1, 1, 1, 0, 0, 0};
	(void)state;
	struct diff_change change = compared(&sides, values, samples);
	assert_true(change.p < 1e-4);
	assert_true(change.has_interval && change.low >= -1 && change.low <= -0.9 && change.high < -0.8);
	assert_true(compared(&sides, values, single).p > 0.005); /* Three samples may be mere chance. */
}

static void without_a_spread_to_know_nothing_is_told(void **state)
{
	const struct diff_sides single = {.base = 1, .other = 1}, empty = {.base = 2};
	static const double values[] = {10, 1000};
	static const uint64_t samples[] = {10, 1000};
	(void)state;
	assert_true(compared(&single, values, samples).p == 1);
	assert_true(compared(&empty, values, samples).p == 1);
	const struct diff_sides sides = {.base = 2, .other = 2};
	static const double nothing[4];
	static const uint64_t none[4];
	assert_true(compared(&sides, nothing, none).p == 1);
}

static double uniform(void)
{
	return ((double)(random() & 0xffffff) + 1) / 0x1000001;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * acos(-1) * uniform());
}

/* Runs vary by more than their samples indicate: a false alarm is not raised more often than p states, and a row that
 * is twice as large is found. */
static void alarms_are_as_rare_as_they_say(void **state)
{
	const struct diff_sides sides = {.base = 3, .other = 3};
	size_t alarms = 0, found = 0;
	(void)state;
	srandom(5);
	for (size_t try = 0; try < TRIES; try++) {
		double same[6], twice[6];
		uint64_t same_samples[6], twice_samples[6];
		for (size_t i = 0; i < 6; i++) {
			double rate = 400 * (1 + 0.05 * normal());
			same[i] = fmax(1, round(rate + sqrt(rate) * normal()));
			twice[i] = i < 3 ? same[i] : 2 * same[i];
			same_samples[i] = (uint64_t)same[i];
			twice_samples[i] = (uint64_t)twice[i];
		}
		alarms += compared(&sides, same, same_samples).p < 0.01;
		found += compared(&sides, twice, twice_samples).p < 0.01;
	}
	assert_true(alarms <= TRIES * 2 / 100);
	assert_true(found >= TRIES * 9 / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ranks_can_tell),
		cmocka_unit_test(what_is_gone_is_seen_by_few),
		cmocka_unit_test(without_a_spread_to_know_nothing_is_told),
		cmocka_unit_test(alarms_are_as_rare_as_they_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
