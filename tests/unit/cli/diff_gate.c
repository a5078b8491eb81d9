/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/diff/diff_gate.h"

#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "unit_test.h"

#define LEVEL 0.005

static struct diff_gate gate_of(const char *text)
{
	struct diff_gate gate;
	struct tally_error err;
	if (diff_gate_parse(text, LEVEL, &gate, &err) != TALLY_OK)
		fail_msg("'%s': %s", text, err.text);
	return gate;
}

static void clauses_are_read(void **state)
{
	struct diff_gate gate = gate_of("regression>2% with p<0.01, improvement > 1.5 ,total>0%");
	assert_int_equal(gate.count, 3);
	assert_int_equal(gate.clauses[0].kind, DIFF_GATE_REGRESSION);
	assert_true(gate.clauses[0].change == 0.02 && gate.clauses[0].p == 0.01);
	assert_int_equal(gate.clauses[1].kind, DIFF_GATE_IMPROVEMENT);
	assert_true(gate.clauses[1].change == 0.015 && gate.clauses[1].p == LEVEL);
	assert_int_equal(gate.clauses[2].kind, DIFF_GATE_TOTAL);
}

static void what_is_none_is_refused(void **state)
{
	static const char *const texts[] = {"", " ", "regression", "regression>", "regression>%", "regression<2%",
		"more>2%", "regression>2%%", "regression>2% p<0.1", "regression>2% with p", "regression>2% with p<",
		"regression>nan", "regression>inf", "regression>-2%", "regression>1e999%", "regression>2% with p<1.5",
		"regression>2%,", "total>1 total>1", "regression>00000000000000000000000000000000000000001%"};
	struct diff_gate gate;
	struct tally_error err;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (diff_gate_parse(texts[i], LEVEL, &gate, &err) == TALLY_OK)
			fail_msg("'%s' is taken for a gate", texts[i]);
	assert_int_equal(
		diff_gate_parse("change>1,change>1,change>1,change>1,change>1,change>1,change>1,change>1,change>1",
			LEVEL, &gate, &err),
		TALLY_LIMIT);
}

static void judges(const char *text, double change, double p, double noise, bool fails)
{
	struct diff_gate gate = gate_of(text);
	struct diff_change row = {.change = change, .adjusted_p = p, .noise = noise, .is_tested = true};
	assert_int_equal(diff_gate_row_fails(&gate, &row), fails);
}

static void changes_are_judged(void **state)
{
	judges("regression>2%", 0.03, 0.001, 0.01, true);
	judges("regression>2%", 0.02, 0.001, 0.01, false);
	judges("regression>2%", -0.03, 0.001, 0.01, false);
	judges("improvement>2%", -0.03, 0.001, 0.01, true);
	judges("change>2%", -0.03, 0.001, 0.01, true);
	judges("regression>2%", 0.03, LEVEL, 0.01, false);
	judges("regression>2% with p<0.05", 0.03, 0.04, 0.01, true);
	judges("regression>2%", 0.03, 0.001, 0.03, false); /* The change is within the noise. */
	judges("regression>2%", 0.03, 0.001, -1, true); /* The noise is unknown. */
	judges("regression>2%", INFINITY, 0.001, -1, true);
	judges("total>2%", 0.03, 0.001, 0.01, false);
}

static void rows_and_the_total_are_apart(void **state)
{
	struct diff_gate total = gate_of("total>1%"), rows = gate_of("regression>1%,change>1%");
	struct diff_change change = {.change = 0.5, .adjusted_p = 0.0001, .noise = -1, .is_tested = true};
	assert_true(diff_gate_total_fails(&total, &change));
	assert_false(diff_gate_total_fails(&rows, &change));
	assert_false(diff_gate_row_fails(&total, &change));
	change.is_tested = false;
	assert_false(diff_gate_row_fails(&rows, &change));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clauses_are_read),
		cmocka_unit_test(what_is_none_is_refused),
		cmocka_unit_test(changes_are_judged),
		cmocka_unit_test(rows_and_the_total_are_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
