/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_gate.h"

#include <string.h>

#include "base/array.h"
#include "cli/cli.h"
#include "unit_test.h"

static void expect_clause(
	const char *text, const char *name, struct run_gate_limit limit, enum stat_gate_unit unit, double p)
{
	struct stat_gate gate;
	struct tally_error err;
	if (stat_gate_parse(text, &gate, &err) != TALLY_OK)
		fail_msg("%s", err.text);
	const struct stat_gate_clause *clause = &gate.clauses[gate.count - 1];
	assert_true(str_equal(clause->name, str_from(name)));
	assert_int_equal(clause->unit, unit);
	assert_int_equal(clause->limit.is_fixed, limit.is_fixed);
	assert_float_equal(clause->limit.part, limit.part, 1e-12);
	assert_float_equal(clause->limit.difference, limit.difference, 1e-9);
	assert_float_equal(clause->p, p, 1e-12);
}

static void clauses_have_names_limits_and_levels(void **state)
{
	expect_clause(
		"regression>2%", "regression", (struct run_gate_limit){.part = 0.02}, STAT_GATE_PLAIN, RUN_GATE_LEVEL);
	expect_clause(" elapsed > 0.5 % with p < 0.001 ", "elapsed", (struct run_gate_limit){.part = 0.005},
		STAT_GATE_PLAIN, 0.001);
	expect_clause("page-faults>+100", "page-faults", (struct run_gate_limit){.difference = 100}, STAT_GATE_PLAIN,
		RUN_GATE_LEVEL);
	expect_clause("time>1.5s", "time", (struct run_gate_limit){.is_fixed = true, .difference = 1500},
		STAT_GATE_TIME, RUN_GATE_LEVEL);
	expect_clause("task-clock>+20us", "task-clock", (struct run_gate_limit){.difference = 0.02}, STAT_GATE_TIME,
		RUN_GATE_LEVEL);
	/* Event names may contain commas, which also separate clauses. */
	expect_clause("change>1%, cpu/event=0x3c,umask=0/>2M", "cpu/event=0x3c,umask=0/",
		(struct run_gate_limit){.is_fixed = true, .difference = 2e6}, STAT_GATE_COUNT, RUN_GATE_LEVEL);
}

static void other_texts_are_refused(void **state)
{
	static const char *const texts[] = {"", "time", ">2%", "time>", "time>x", "time>-2%", "time>2% p<0.1",
		"time>2% with p<0", "time>2% with p<0.6", "regression>5", "change>+5", "improvement>100%",
		"time>2% elapsed>2%", "time>1e999"};
	struct stat_gate gate;
	struct tally_error err;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (stat_gate_parse(texts[i], &gate, &err) == TALLY_OK)
			fail_msg("'%s' is taken", texts[i]);
}

static struct stat_gate_row row_of(const char *name, const char *unit, bool is_gated, double a, double b)
{
	return (struct stat_gate_row){.name = name,
		.unit = unit,
		.is_gated = is_gated,
		.a = {.len = 1, .mean = a},
		.b = {.len = 1, .mean = b}};
}

static enum run_verdict judge(const char *text, struct stat_gate_row *rows, size_t count)
{
	static struct stat_gate gate; /* Static because rows point into it. */
	struct tally_error err;
	enum run_verdict verdict = RUN_OPEN;
	assert_int_equal(stat_gate_parse(text, &gate, &err), TALLY_OK);
	if (stat_gate_judge(&gate, rows, count, &verdict, &err) != TALLY_OK)
		fail_msg("%s: %s", text, err.text);
	return verdict;
}

static void each_clause_is_of_its_rows(void **state)
{
	static const struct {
		const char *text;
		enum run_verdict verdict;
	} cases[] = {
		{"regression>2%", RUN_EXCEEDS}, /* branches: +3 %. */
		{"regression>4%", RUN_DOES_NOT_EXCEED}, /* cs is not gated. */
		{"cs>4%", RUN_EXCEEDS},
		{"instructions>0%", RUN_DOES_NOT_EXCEED},
		{"improvement>5%", RUN_EXCEEDS}, /* instructions: -10 %. */
		{"improvement>10%", RUN_DOES_NOT_EXCEED},
		{"change>5%", RUN_EXCEEDS},
		{"change>20%", RUN_DOES_NOT_EXCEED},
		{"branches>+2", RUN_EXCEEDS},
		{"branches>+3", RUN_DOES_NOT_EXCEED},
		{"branches>102", RUN_EXCEEDS},
		{"branches>103", RUN_DOES_NOT_EXCEED},
		{"branches>90%, sys>1s", RUN_EXCEEDS},
		{"branches>90%, system>2s", RUN_DOES_NOT_EXCEED},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct stat_gate_row rows[] = {row_of("instructions:u", "", true, 1000, 900),
			row_of("branches", "", true, 100, 103), row_of("cs", "", false, 10, 20),
			row_of("system", "msec", false, 100, 1900)};
		if (judge(cases[i].text, rows, ARRAY_LEN(rows)) != cases[i].verdict)
			fail_msg("%s", cases[i].text);
	}
}

static void worse_comes_before_undecided(void **state)
{
	struct stat_gate_row rows[] = {row_of("a", "", true, 100, 100), row_of("b", "", true, 100, 150)};
	rows[0].a = rows[0].b = (struct run_gate_side){.len = 5, .mean = 100, .deviation = 10};
	assert_int_equal(judge("a>1%", rows, 2), RUN_OPEN);
	assert_false(rows[1].is_judged);
	assert_int_equal(judge("regression>1%", rows, 2), RUN_EXCEEDS);
	assert_int_equal(rows[0].verdict, RUN_OPEN);
	struct text t = {0};
	stat_gate_print(&t, rows, 2, RUN_EXCEEDS);
	text_char(&t, '\0');
	assert_non_null(strstr(t.data,
		" undecided: a: runs vary too much to tell whether B exceeds A by more than 1% (5 and 5 runs find "));
	assert_non_null(strstr(t.data, " worse: b: B exceeds A by more than 1%\n Verdict: worse.\n"));
	text_deinit(&t);
	assert_int_equal(stat_gate_exit_code(RUN_EXCEEDS), EXIT_CHANGED);
	assert_int_equal(stat_gate_exit_code(RUN_OPEN), EXIT_UNDECIDED);
	assert_int_equal(stat_gate_exit_code(RUN_DOES_NOT_EXCEED), 0);
}

static void what_was_not_measured_has_no_verdict(void **state)
{
	struct stat_gate_row row = row_of("a", "", true, 100, 100);
	struct stat_gate gate = stat_gate_of_threshold(1);
	struct tally_error err;
	enum run_verdict verdict;
	row.b.len = 0;
	assert_int_equal(stat_gate_judge(&gate, &row, 1, &verdict, &err), TALLY_INVALID);
	assert_non_null(strstr(err.text, "B has no count of a"));
	row.is_gated = false;
	assert_int_equal(stat_gate_judge(&gate, &row, 1, &verdict, &err), TALLY_INVALID);
}

static void names_do_not_break_a_table(void **state)
{
	struct stat_gate_row row = row_of("a|b", "", true, 100, 90);
	const struct stat_style style = {.thousands = ""};
	struct text t = {0};
	row.benchmark = "bench|\x1b[1m";
	enum run_verdict verdict = judge("regression>1%", &row, 1);
	stat_gate_markdown(&t, &row, 1, verdict, &style);
	text_char(&t, '\0');
	assert_non_null(strstr(t.data, "| benchmark | | A | B | B - A | verdict |\n"));
	assert_non_null(strstr(t.data, "| a\\|b | 100 | 90 | -10.000% | not worse |\n"));
	assert_null(strchr(t.data, '\x1b'));
	text_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clauses_have_names_limits_and_levels),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(each_clause_is_of_its_rows),
		cmocka_unit_test(worse_comes_before_undecided),
		cmocka_unit_test(what_was_not_measured_has_no_verdict),
		cmocka_unit_test(names_do_not_break_a_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
