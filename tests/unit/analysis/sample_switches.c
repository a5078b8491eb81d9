/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sample_switches.h"

#include "unit_test.h"

static void add(struct sample_switches *s, uint64_t order, uint64_t position, bool is_on)
{
	struct sample_switch added = {order, position, is_on};
	assert_true(vec_push(&s->changes, added));
}

static void samples_count_between_the_events(void **state)
{
	struct sample_switches s = {.begins_off = true};
	add(&s, 30, 7, false);
	add(&s, 10, 2, true);
	add(&s, 20, 5, true); /* The event is already on, so this is an ordinary sample. */
	add(&s, 40, 9, true);
	sample_switches_settle(&s);
	assert_int_equal(s.changes.len, 3);
	assert_false(sample_switches_want(&s, 9, 1));
	assert_false(sample_switches_want(&s, 10, 1));
	assert_false(sample_switches_want(&s, 10, 2)); /* The sample of the switch event itself. */
	assert_true(sample_switches_want(&s, 10, 3));
	assert_true(sample_switches_want(&s, 20, 5));
	assert_false(sample_switches_want(&s, 30, 7));
	assert_false(sample_switches_want(&s, 35, 8));
	assert_true(sample_switches_want(&s, 41, 0));
	assert_true(sample_switches_end_on(&s));
	s.shows = true;
	assert_true(sample_switches_want(&s, 10, 2));
	assert_true(sample_switches_want(&s, 30, 7));
	assert_false(sample_switches_want(&s, 35, 8));
	sample_switches_deinit(&s);
}

static void without_events_all_or_nothing_counts(void **state)
{
	struct sample_switches s = {0};
	sample_switches_settle(&s);
	assert_true(sample_switches_want(&s, 0, 0));
	assert_true(sample_switches_end_on(&s));
	s.begins_off = true;
	assert_false(sample_switches_end_on(&s));
	assert_false(sample_switches_want(&s, UINT64_MAX, UINT64_MAX));
	sample_switches_deinit(&s);
}

static void one_event_may_switch_both_ways(void **state)
{
	struct sample_switches s = {.begins_off = true};
	for (uint64_t i = 1; i <= 2; i++) {
		add(&s, i * 10, i, true);
		add(&s, i * 10, i, false);
	}
	sample_switches_settle(&s);
	assert_int_equal(s.changes.len, 2);
	assert_true(sample_switches_want(&s, 15, 0));
	assert_false(sample_switches_want(&s, 25, 0));
	sample_switches_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_count_between_the_events),
		cmocka_unit_test(without_events_all_or_nothing_counts),
		cmocka_unit_test(one_event_may_switch_both_ways),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
