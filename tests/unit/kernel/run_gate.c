/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/run_gate.h"

#include <math.h>

#include "base/array.h"
#include "kernel/counting/run_statistics.h"
#include "unit_test.h"

#define RUNS_MOST   20
#define COMPARISONS (IS_SANITIZED ? 1000 : 3000)

/* Noise with a fixed seed. */

static uint64_t seed = 20260101;

static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

enum noise { NORMAL, OUTLIERS, TWO_MODES, NOISES };

/* All kinds of noise have a standard deviation of about 1 %. */
static double noisy(enum noise noise)
{
	switch (noise) {
	case OUTLIERS: /* As on a machine with occasional other load. */
		return uniform() < 0.1 ? 1 + 0.03 * uniform() : 1 + 0.002 * normal();
	case TWO_MODES: /* As with hash seeds, or with memory placement. */
		return (uniform() < 0.5 ? 0.99 : 1.01) + 0.0001 * normal();
	case NORMAL:
	case NOISES:
		break;
	}
	return 1 + 0.01 * normal();
}

struct shares { /* Fractions of the comparisons by verdict. */
	double exceeds, below, open;
};

static struct run_gate_result compare_once(enum noise noise, size_t runs, double change, double part, bool keeps_values)
{
	double a[RUNS_MOST], b[RUNS_MOST];
	struct run_gate_result result;
	for (size_t i = 0; i < runs; i++) {
		a[i] = noisy(noise);
		b[i] = noisy(noise) * (1 + change);
	}
	run_values_sort(a, runs);
	run_values_sort(b, runs);
	struct run_gate_side of_a = run_gate_side_of(a, runs), of_b = run_gate_side_of(b, runs);
	if (!keeps_values)
		of_a.sorted = of_b.sorted = NULL;
	assert_int_equal(
		run_gate_decide(&of_a, &of_b, &(struct run_gate_limit){.part = part}, RUN_GATE_LEVEL, &result, NULL),
		TALLY_OK);
	return result;
}

static struct shares compare_often(enum noise noise, size_t runs, double change, double part)
{
	struct shares shares = {0};
	for (int i = 0; i < COMPARISONS; i++) {
		enum run_verdict verdict = compare_once(noise, runs, change, part, true).verdict;
		shares.exceeds += verdict == RUN_EXCEEDS ? 1.0 / COMPARISONS : 0;
		shares.below += verdict == RUN_DOES_NOT_EXCEED ? 1.0 / COMPARISONS : 0;
		shares.open += verdict == RUN_OPEN ? 1.0 / COMPARISONS : 0;
	}
	return shares;
}

/* Returns three standard deviations of a fraction of that many comparisons. */
static double tolerance(double share)
{
	return 3 * sqrt(share * (1 - share) / COMPARISONS);
}

static void equal_programs_raise_no_more_alarms_than_stated(void **state)
{
	(void)state;
	for (enum noise noise = NORMAL; noise < NOISES; noise++) {
		static const size_t runs[] = {5, 10, 20};
		for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
			struct shares same = compare_often(noise, runs[i], 0, 0);
			assert_true(same.exceeds <= RUN_GATE_LEVEL + tolerance(RUN_GATE_LEVEL));
			assert_true(same.below <= RUN_GATE_LEVEL + tolerance(RUN_GATE_LEVEL));
			/* A threshold above 0 makes false alarms rarer still. */
			assert_true(compare_often(noise, runs[i], 0, 0.01).exceeds <= RUN_GATE_LEVEL / 2);
		}
	}
	struct shares few = compare_often(NORMAL, 3, 0, 0); /* Three runs are too few for the rank test. */
	assert_true(few.exceeds <= RUN_GATE_LEVEL + tolerance(RUN_GATE_LEVEL));
}

static void what_is_worse_by_less_than_the_limit_is_never_called_worse_more_often(void **state)
{
	(void)state;
	struct shares at_limit = compare_often(NORMAL, 10, 0.02, 0.02);
	assert_true(at_limit.exceeds <= RUN_GATE_LEVEL + tolerance(RUN_GATE_LEVEL));
	assert_true(at_limit.below <= RUN_GATE_LEVEL + tolerance(RUN_GATE_LEVEL));
	assert_true(at_limit.open >= 0.97);
}

/* Changes of 1 %, 2 % and 5 %, with ten runs that vary by 1 %: the smallest change that is detected nine times of ten
 * is 1.8 %. */
static void changes_are_found_as_the_stated_power_says(void **state)
{
	(void)state;
	double found = 0;
	for (int i = 0; i < 200; i++)
		found += compare_once(NORMAL, 10, 0, 0, true).found / 200;
	assert_true(found > 0.016 && found < 0.020);
	struct shares at = compare_often(NORMAL, 10, found, 0);
	assert_true(at.exceeds > 0.86 && at.exceeds < 0.94);
	struct shares one = compare_often(NORMAL, 10, 0.01, 0), two = compare_often(NORMAL, 10, 0.02, 0);
	assert_true(one.exceeds > 0.25 && one.exceeds < 0.5);
	assert_true(two.exceeds > 0.9);
	assert_true(compare_often(NORMAL, 10, 0.05, 0).exceeds > 0.999);
	/* With a threshold of 2 %, a change of 5 % is detected, and no change is confirmed as below the threshold. */
	assert_true(compare_often(NORMAL, 10, 0.05, 0.02).exceeds > 0.999);
	assert_true(compare_often(NORMAL, 10, 0, 0.02).below > 0.9);
}

static void needed_runs_are_enough(void **state)
{
	(void)state;
	double needed = 0;
	int open = 0;
	for (int i = 0; i < 300; i++) {
		struct run_gate_result result = compare_once(NORMAL, 5, 0, 0.015, true);
		needed += (double)result.needed;
		open += result.verdict == RUN_OPEN;
	}
	assert_true(open > 100);
	needed = ceil(needed / open);
	assert_true(needed > 8 && needed <= RUNS_MOST);
	assert_true(compare_often(NORMAL, (size_t)needed, 0, 0.015).below > 0.85);
}

static void values_without_spread_are_compared_as_they_are(void **state)
{
	(void)state;
	const double a[] = {1000, 1000, 1000}, more[] = {1002, 1002, 1002}, less[] = {1000.5, 1000.5, 1000.5};
	struct run_gate_side of_a = run_gate_side_of(a, 3), of_more = run_gate_side_of(more, 3),
			     of_less = run_gate_side_of(less, 3), one = {.len = 1, .mean = 1002};
	struct run_gate_result result;
	const struct run_gate_limit limit = {.part = 0.001};
	assert_int_equal(run_gate_decide(&of_a, &of_more, &limit, 0.01, &result, NULL), TALLY_OK);
	assert_int_equal(result.verdict, RUN_EXCEEDS);
	assert_false(result.has_spread);
	assert_int_equal(run_gate_decide(&of_a, &of_less, &limit, 0.01, &result, NULL), TALLY_OK);
	assert_int_equal(result.verdict, RUN_DOES_NOT_EXCEED);
	assert_int_equal(run_gate_decide(&of_a, &one, &limit, 0.01, &result, NULL), TALLY_OK);
	assert_int_equal(result.verdict, RUN_EXCEEDS);
	const struct run_gate_limit at = {.part = 0.002}; /* A change that equals the threshold does not exceed it. */
	assert_int_equal(run_gate_decide(&of_a, &of_more, &at, 0.01, &result, NULL), TALLY_OK);
	assert_int_equal(result.verdict, RUN_DOES_NOT_EXCEED);
}

/* The means of three runs differ by a tenth of their spread. */
static void a_difference_inside_the_spread_is_open(void **state)
{
	(void)state;
	const double a[] = {9800, 10000, 10200}, b[] = {9810, 10030, 10220};
	struct run_gate_side of_a = run_gate_side_of(a, 3), of_b = run_gate_side_of(b, 3);
	struct run_gate_result result;
	assert_int_equal(
		run_gate_decide(&of_a, &of_b, &(struct run_gate_limit){.part = 0.001}, 0.01, &result, NULL), TALLY_OK);
	assert_int_equal(result.verdict, RUN_OPEN);
	assert_true(result.has_spread && !result.by_ranks && result.found > 500);
	/* A stored value of one run is no more precise than the runs of the other side. */
	const struct run_gate_side stored = {.len = 1, .mean = 9900};
	assert_int_equal(run_gate_decide(&stored, &of_b, &(struct run_gate_limit){.part = 0.001}, 0.01, &result, NULL),
		TALLY_OK);
	assert_int_equal(result.verdict, RUN_OPEN);
}

static void limits_may_be_fixed_or_differences(void **state)
{
	(void)state;
	const double a[] = {100, 101, 102, 103, 104}, b[] = {120, 121, 122, 123, 124};
	struct run_gate_side of_a = run_gate_side_of(a, 5), of_b = run_gate_side_of(b, 5), none = {0};
	struct run_gate_result result;
	static const struct {
		struct run_gate_limit limit;
		enum run_verdict verdict;
	} cases[] = {
		{{.difference = 10}, RUN_EXCEEDS},
		{{.difference = 30}, RUN_DOES_NOT_EXCEED},
		{{.difference = 20}, RUN_OPEN},
		{{.is_fixed = true, .difference = 110}, RUN_EXCEEDS},
		{{.is_fixed = true, .difference = 130}, RUN_DOES_NOT_EXCEED},
		{{.is_fixed = true, .difference = 122}, RUN_OPEN},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(run_gate_decide(&of_a, &of_b, &cases[i].limit, 0.01, &result, NULL), TALLY_OK);
		assert_int_equal(result.verdict, cases[i].verdict);
	}
	assert_int_equal(run_gate_decide(&none, &of_b, &cases[3].limit, 0.01, &result, NULL), TALLY_OK);
	assert_int_equal(result.verdict, RUN_EXCEEDS);
	assert_int_equal(run_gate_decide(&none, &of_b, &cases[0].limit, 0.01, &result, NULL), TALLY_INVALID);
	assert_int_equal(run_gate_decide(&of_a, &none, &cases[3].limit, 0.01, &result, NULL), TALLY_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_programs_raise_no_more_alarms_than_stated),
		cmocka_unit_test(what_is_worse_by_less_than_the_limit_is_never_called_worse_more_often),
		cmocka_unit_test(changes_are_found_as_the_stated_power_says),
		cmocka_unit_test(needed_runs_are_enough),
		cmocka_unit_test(values_without_spread_are_compared_as_they_are),
		cmocka_unit_test(a_difference_inside_the_spread_is_open),
		cmocka_unit_test(limits_may_be_fixed_or_differences),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
