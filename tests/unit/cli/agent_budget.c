/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/agent/agent_budget.h"

#include "base/array.h"
#include "unit_test.h"

#define SECOND 1000000000ull
#define MIB    (1024ull * 1024)

static const struct agent_limits usual = {.cpu = 0.01, .bytes = 100 * MIB, .frequency = 19, .with_waits = true};

/* Evaluates that many windows of ten seconds, and returns how often the pace changed. */
static unsigned judge(struct agent_budget *b, unsigned windows, double cpu, uint64_t mib)
{
	unsigned changes = 0;
	for (unsigned i = 0; i < windows; i++)
		changes += agent_budget_judge(b,
			&(struct agent_usage){
				.window_ns = 10 * SECOND, .cpu_ns = (uint64_t)(cpu * 10 * SECOND), .bytes = mib * MIB});
	return changes;
}

static void expect_pace(const struct agent_budget *b, uint64_t frequency, bool with_waits)
{
	assert_int_equal(b->pace.frequency, frequency);
	assert_int_equal(b->pace.with_waits, with_waits);
}

static void what_it_can_afford(void **state)
{
	struct agent_budget b;
	agent_budget_init(&b, &usual);
	assert_int_equal(judge(&b, 1, 0.5, 300), 0); /* The first window includes the start of the agent. */
	assert_int_equal(judge(&b, 100, 0.009, 90), 0);
	assert_int_equal(judge(&b, 1, 0.02, 90), 0);
	assert_int_equal(judge(&b, 1, 0.005, 90), 0); /* A single expensive window has no effect. */
	assert_int_equal(judge(&b, 100, 0.004, 90), 0);
	expect_pace(&b, 19, true);
}

static void steps(void **state)
{
	struct agent_budget b;
	agent_budget_init(&b, &usual);
	assert_int_equal(judge(&b, 3, 0.02, 50), 1);
	expect_pace(&b, 19, false);
	assert_int_equal(judge(&b, 2, 0.02, 50), 1);
	expect_pace(&b, 9, false);
	assert_int_equal(judge(&b, 1, 0.1, 50), 1); /* Much more than the limit. */
	expect_pace(&b, 4, false);
	assert_int_equal(judge(&b, 20, 0.02, 50), 2);
	expect_pace(&b, 1, false);
	assert_int_equal(judge(&b, 20, 0.02, 50), 0); /* The pace cannot be reduced further. */
	expect_pace(&b, 1, false);
	assert_int_equal(judge(&b, 5, 0.001, 50), 0);
	assert_int_equal(judge(&b, 1, 0.001, 50), 1);
	expect_pace(&b, 2, false);
	assert_int_equal(judge(&b, 18, 0.001, 50), 3);
	expect_pace(&b, 19, false);
	assert_int_equal(judge(&b, 6, 0.001, 50), 1);
	expect_pace(&b, 19, true);
	assert_int_equal(judge(&b, 100, 0.001, 50), 0);
}

static void back_and_forth_takes_longer_each_time(void **state)
{
	struct agent_budget b;
	unsigned patience = 6;
	agent_budget_init(&b, &usual);
	judge(&b, 3, 0.02, 50);
	expect_pace(&b, 19, false);
	for (unsigned i = 0; i < 12; i++) {
		assert_int_equal(judge(&b, patience - 1, 0.001, 50), 0);
		assert_int_equal(judge(&b, 1, 0.001, 50), 1);
		expect_pace(&b, 19, true);
		assert_int_equal(judge(&b, 2, 0.02, 50), 1);
		expect_pace(&b, 19, false);
		patience = MIN(patience * 2, 768);
	}
}

static void memory(void **state)
{
	struct agent_budget b;
	agent_budget_init(&b, &usual);
	judge(&b, 1, 0, 50);
	assert_int_equal(judge(&b, 1, 0.001, 120), 0);
	assert_true(b.wants_symbols_dropped);
	assert_int_equal(judge(&b, 1, 0.001, 60), 0);
	assert_false(b.wants_symbols_dropped);
	assert_int_equal(judge(&b, 1, 0.001, 120), 0);
	assert_false(b.wants_symbols_dropped); /* Too early for dropping symbols again. */
	assert_int_equal(judge(&b, 1, 0.001, 120), 1); /* Dropping symbols did not help, so the pace changes. */
	expect_pace(&b, 19, false);
	judge(&b, 28, 0.006, 90);
	assert_int_equal(judge(&b, 1, 0.006, 120), 0);
	assert_true(b.wants_symbols_dropped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_can_afford),
		cmocka_unit_test(steps),
		cmocka_unit_test(back_and_forth_takes_longer_each_time),
		cmocka_unit_test(memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
