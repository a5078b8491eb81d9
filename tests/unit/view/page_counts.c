/* SPDX-License-Identifier: Apache-2.0 */
#include "view/html/page_counts.h"

#include <math.h>

#include "unit_test.h"

static void expect(const struct export_counts *counts, const char *expected)
{
	struct text t = {0};
	page_counts(&t, counts);
	assert_false(t.failed);
	assert_true(str_equal((struct tally_str){t.data, t.len}, str_from(expected)));
	text_deinit(&t);
}

static void rounds_have_a_value_for_each_event(void **state)
{
	(void)state;
	static const struct export_count events[] = {{STR("a<b"), STR(""), 100, false, STR("")},
		{STR("a<b"), STR(""), 100, true, STR("")}, {STR("energy"), STR("Joules"), 33.34, false, STR("S<1")}};
	static const struct export_count_round rounds[] = {{0.5, 0.5}, {-1, 1.25}};
	const double values[] = {3, NAN, INFINITY, 9007199254740991.0, NAN, 0.125};
	const struct export_counts counts = {events, 3, rounds, 2, values, 7};
	expect(&counts, "[[[\"a\\u003cb\",\"\",100.0],[\"energy\",\"Joules\",33.3,\"S\\u003c1\"]],[\n[0.500000,0."
			"500000,[3,null]],\n"
			"[-1,1.250000,[9007199254740991,0.125000]]],7]");
}

static void a_merged_event_with_a_value_is_shown(void **state)
{
	(void)state;
	static const struct export_count events[] = {
		{STR("one"), STR(""), 100, false, STR("")}, {STR("two"), STR(""), 100, true, STR("")}};
	static const struct export_count_round rounds[] = {{-1, 1}};
	const double values[] = {1, 2};
	const struct export_counts counts = {events, 2, rounds, 1, values, 0};
	expect(&counts, "[[[\"one\",\"\",100.0],[\"two\",\"\",100.0]],[\n[-1,1,[1,2]]],0]");
}

static void nothing_is_null(void **state)
{
	(void)state;
	const struct export_counts none = {0};
	expect(NULL, "null");
	expect(&none, "null");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(rounds_have_a_value_for_each_event),
		cmocka_unit_test(a_merged_event_with_a_value_is_shown), cmocka_unit_test(nothing_is_null)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
