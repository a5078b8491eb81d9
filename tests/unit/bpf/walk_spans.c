/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/walk_spans.h"

#include "unit_test.h"

static void test_spans_are_disjoint_and_come_back_after_a_while(void **state)
{
	struct walk_spans spans;
	struct walk_span one, two, again;
	walk_spans_init(&spans, 16);
	assert_true(walk_spans_take(&spans, 5, &one));
	assert_true(walk_spans_take(&spans, 8, &two));
	assert_int_equal(one.first, 0);
	assert_int_equal(two.first, 8);
	assert_false(walk_spans_take(&spans, 1, &again));
	walk_spans_give(&spans, one);
	assert_false(walk_spans_take(&spans, 5, &again));
	walk_spans_age(&spans);
	assert_false(walk_spans_take(&spans, 5, &again)); /* A BPF program may still read the span. */
	walk_spans_age(&spans);
	assert_true(walk_spans_take(&spans, 7, &again));
	assert_int_equal(again.first, 0);
	walk_spans_deinit(&spans);
}

static void test_nothing_and_too_much_are_refused(void **state)
{
	struct walk_spans spans;
	struct walk_span span;
	walk_spans_init(&spans, 65536);
	assert_false(walk_spans_take(&spans, 0, &span));
	assert_false(walk_spans_take(&spans, 1025, &span));
	assert_true(walk_spans_take(&spans, 1024, &span));
	walk_spans_give(&spans, (struct walk_span){0});
	walk_spans_age(&spans);
	walk_spans_age(&spans);
	walk_spans_deinit(&spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spans_are_disjoint_and_come_back_after_a_while),
		cmocka_unit_test(test_nothing_and_too_much_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
