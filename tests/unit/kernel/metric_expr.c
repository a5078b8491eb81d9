/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/metrics/metric_expr.h"

#include <math.h>
#include <string.h>

#include "unit_test.h"

static bool constant(void *context, struct tally_str name, double *value)
{
	*value = 8;
	return str_equal(name, STR("num_cpus"));
}

static bool has_event(void *context, const char *name)
{
	return strcmp(name, "there/event/") == 0;
}

static const struct metric_facts facts = {NULL, constant, has_event};

/* Events have the values 2, 3, 5, 7 in the order of their first use. */
static double value_of(const char *text, const char *names)
{
	static const double values[] = {2, 3, 5, 7};
	struct metric_expr expr;
	struct tally_error err = {0};
	if (metric_expr_parse(text, &facts, &expr, &err) != TALLY_OK)
		fail_msg("'%s': %s", text, err.text);
	char found[256] = "";
	assert_true(expr.name_count <= 4);
	for (size_t i = 0; i < expr.name_count; i++) {
		strcat(found, i ? " " : "");
		strcat(found, expr.names[i]);
	}
	assert_string_equal(found, names);
	double value = metric_expr_value(&expr, values);
	metric_expr_deinit(&expr);
	return value;
}

static void test_arithmetic(void **state)
{
	assert_float_equal(value_of("1 + 2 * 3", ""), 7, 0);
	assert_float_equal(value_of("(1 + 2) * 3", ""), 9, 0);
	assert_float_equal(value_of("10 - 3 - 2", ""), 5, 0);
	assert_float_equal(value_of("7 % 4", ""), 3, 0);
	assert_float_equal(value_of("-2 * -(3)", ""), 6, 0);
	assert_float_equal(value_of("--2", ""), 2, 0);
	assert_float_equal(value_of("1e9", ""), 1e9, 0);
	assert_float_equal(value_of("2.5e-1", ""), 0.25, 0);
	assert_float_equal(value_of(".5", ""), 0.5, 0);
	assert_float_equal(value_of("0.05", ""), 0.05, 0);
	assert_float_equal(value_of("min(3, max(1, 2))", ""), 2, 0);
	assert_float_equal(value_of("1 < 2 & 2 > 1", ""), 1, 0);
	assert_float_equal(value_of("1 ^ 1 | 0", ""), 0, 0);
	assert_float_equal(value_of("#num_cpus * 2", ""), 16, 0);
	assert_float_equal(value_of("d_ratio(1, 0)", ""), 0, 0);
	assert_float_equal(value_of("d_ratio(1, 4)", ""), 0.25, 0);
	assert_true(isnan(value_of("1 / 0", "")));
	assert_true(isnan(value_of("max(1, 1 % 0)", "")));
}

static void test_events(void **state)
{
	assert_float_equal(value_of("a / b", "a b"), 2.0 / 3, 0);
	assert_float_equal(value_of("branch\\-misses + cpu@event\\=1\\,umask\\=2@ * branch\\-misses",
				   "branch-misses cpu/event=1,umask=2/"),
		8, 0);
	assert_float_equal(value_of("sched:sched_switch", "sched:sched_switch"), 2, 0);
	assert_float_equal(value_of("a if b > 1 else c", "a b c"), 2, 0);
	assert_float_equal(value_of("a if b < 1 else c if d > 0 else 0", "a b c d"), 5, 0);
	assert_float_equal(value_of("ifs + else_2", "ifs else_2"), 5, 0);
}

static void test_branches_never_taken_need_no_events(void **state)
{
	assert_float_equal(value_of("a if #num_cpus else b", "a"), 2, 0);
	assert_float_equal(value_of("a if has_event(nothing) else b / c", "b c"), 2.0 / 3, 0);
	assert_float_equal(value_of("a if has_event(there@event@) & 1 else b", "a"), 2, 0);
	assert_float_equal(value_of("0 if 1 > 0 else a", ""), 0, 0);
}

static void expect_error(const char *text, enum tally_status status, size_t column, const char *words)
{
	struct metric_expr expr;
	struct tally_error err = {0};
	assert_int_equal(metric_expr_parse(text, &facts, &expr, &err), status);
	if (err.offset != column || !strstr(err.text, words))
		fail_msg("'%s': column %d: %s", text, (int)err.offset, err.text);
}

static void test_errors(void **state)
{
	expect_error("", TALLY_INVALID, 0, "something is missing");
	expect_error("1 +", TALLY_INVALID, 3, "something is missing");
	expect_error("(1", TALLY_INVALID, 2, "')' is missing");
	expect_error("1)", TALLY_INVALID, 1, "unexpected");
	expect_error("a b", TALLY_INVALID, 2, "unexpected");
	expect_error("min(1)", TALLY_INVALID, 5, "',' is missing");
	expect_error("max 1", TALLY_INVALID, 3, "'(' is missing");
	expect_error("has_event()", TALLY_INVALID, 9, "takes an event");
	expect_error("a if b", TALLY_INVALID, 6, "'else' is missing");
	expect_error("if a else b", TALLY_INVALID, 0, "unexpected");
	expect_error("a - #nothing", TALLY_NOT_FOUND, 4, "no such constant");
	expect_error("\\", TALLY_INVALID, 0, "unexpected");
	expect_error("1 $ 2", TALLY_INVALID, 2, "unexpected");
}

static void test_bounds(void **state)
{
	static char text[20000];
	memset(text, '(', 1000);
	text[1000] = '\0';
	expect_error(text, TALLY_LIMIT, 64, "nested too deep");
	for (size_t i = 0; i < 18000; i += 2)
		memcpy(text + i, "a+", 2);
	memcpy(text + 18000, "a", 2);
	struct metric_expr expr;
	assert_int_equal(metric_expr_parse(text, &facts, &expr, NULL), TALLY_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_branches_never_taken_need_no_events),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
