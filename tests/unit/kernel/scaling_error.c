/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the estimated scaling error with simulated programs for which the true count is known. */
#include "kernel/counting/scaling_error.h"

#include <math.h>
#include <stdbool.h>

#include "base/array.h"
#include "unit_test.h"

#define SLICE_NS   4e6 /* Length of one slice of the rotation. */
#define PER_WINDOW 3 /* Slices between two readings. */
#define TRIALS	   400
/* A steady rise is always seen too late or too early by a part of a slice, which the estimate does not include. */
#define OF_TURN 0.003

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static double uniform(uint64_t *state)
{
	return (double)(random_next(state) >> 11) / 9007199254740992.0;
}

typedef double (*rate_at)(double part, uint64_t *state);

/* Returns the count of a slice at a fraction of the run. */
static double noisy(double part, uint64_t *state)
{
	return 1000 * (0.5 + uniform(state));
}

static double bursts(double part, uint64_t *state)
{
	return uniform(state) < 0.1 ? 20000 : 100;
}

static double trend(double part, uint64_t *state)
{
	return 1000 + 5000 * part + 100 * uniform(state);
}

static double phases(double part, uint64_t *state)
{
	return (part < 0.3 ? 500 : part < 0.6 ? 4000 : 1500) * (0.9 + 0.2 * uniform(state));
}

/* Alternates, as between user mode and the kernel. */
static double alternation(double part, uint64_t *state)
{
	return ((unsigned)(part * 20) % 2 ? 200 : 2000) * (0.95 + 0.1 * uniform(state));
}

/* Simulates a run in which the event is counted in one of every slices. Returns whether the estimate contains the true
 * count. */
static bool run_is_held(rate_at rate, unsigned every, unsigned slices, uint64_t *state, double *error)
{
	struct scaling_error e = {0};
	double truth = 0, value = 0, running = 0, enabled = 0;
	unsigned turn = (unsigned)(random_next(state) % every);
	for (unsigned i = 0; i < slices; i++) {
		double count = rate((double)i / slices, state);
		truth += count;
		enabled += SLICE_NS;
		if (i % every == turn) {
			value += count;
			running += SLICE_NS;
		}
		if (i % PER_WINDOW == PER_WINDOW - 1)
			scaling_error_add(&e, value, running);
	}
	*error = scaling_error_relative(&e, value, enabled, running);
	return fabs(value * enabled / running - truth) <= (*error + OF_TURN) * value * enabled / running;
}

static void the_truth_lies_within_the_estimate(void **state)
{
	static const struct {
		rate_at rate;
		unsigned every;
		double most; /* Upper limit of the mean estimate: a larger one would be useless. */
	} cases[] = {{noisy, 2, 0.04}, {noisy, 4, 0.06}, {bursts, 2, 0.3}, {bursts, 3, 0.4}, {trend, 3, 0.05},
		{phases, 4, 0.1}, {alternation, 2, 0.1}, {alternation, 3, 0.1}};
	for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
		uint64_t seed = 88172645463325252u + c;
		unsigned held = 0;
		double sum = 0, error;
		for (unsigned i = 0; i < TRIALS; i++) {
			held += run_is_held(cases[c].rate, cases[c].every, 200 * PER_WINDOW, &seed, &error);
			sum += error;
		}
		if (held < TRIALS * 90 / 100)
			fail_msg("case %zu: %u of %u within the estimate", c, held, (unsigned)TRIALS);
		if (sum / TRIALS > cases[c].most)
			fail_msg("case %zu: mean estimate %f", c, sum / TRIALS);
	}
}

static void what_was_counted_throughout_has_no_error(void **state)
{
	struct scaling_error e = {0};
	for (unsigned i = 1; i < 20; i++)
		scaling_error_add(&e, i * i, i);
	assert_true(scaling_error_relative(&e, 361, 19, 19) == 0);
	assert_true(scaling_error_relative(&e, 361, 38, 19) > 0);
}

static void a_steady_rate_has_no_error(void **state)
{
	struct scaling_error e = {0};
	for (unsigned i = 1; i < 20; i++)
		scaling_error_add(&e, 7.0 * i, i);
	assert_true(scaling_error_relative(&e, 133, 100, 19) == 0);
}

static void few_readings_say_nothing(void **state)
{
	struct scaling_error e = {0};
	assert_true(isnan(scaling_error_relative(&e, 1, 10, 5)));
	for (unsigned i = 1; i < SCALING_WINDOWS_LEAST; i++)
		scaling_error_add(&e, i, i);
	assert_true(isnan(scaling_error_relative(&e, 7, 14, 7)));
	for (unsigned i = 0; i < 20; i++)
		scaling_error_add(&e, 7, 7); /* The event did not run, so this is not a reading. */
	assert_int_equal(e.windows, SCALING_WINDOWS_LEAST - 1);
	scaling_error_add(&e, 8, 8);
	assert_true(scaling_error_relative(&e, 8, 16, 8) == 0);
	/* An event that was never counted need not be rare. */
	assert_true(isnan(scaling_error_relative(&e, 0, 16, 8)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_truth_lies_within_the_estimate),
		cmocka_unit_test(what_was_counted_throughout_has_no_error),
		cmocka_unit_test(a_steady_rate_has_no_error),
		cmocka_unit_test(few_readings_say_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
