/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sched_latency.h"

#include "unit_test.h"

static void switch_to(struct sched_latency *l, uint64_t time_ns, int32_t prev, bool is_runnable, int32_t next)
{
	const struct sched_switch s = {
		.prev = prev, .next = next, .prev_is_runnable = is_runnable, .time_ns = time_ns, .is_counted = true};
	assert_true(sched_latency_switch(l, &s));
}

static const struct sched_latency_task *task(const struct sched_latency *l, int32_t tid)
{
	const uint64_t key = (uint32_t)tid;
	return &l->tasks.items[id_table_find(&l->tids, &key)];
}

static void a_delay_is_from_the_wake_up_to_the_switch(void **state)
{
	struct sched_latency l;
	sched_latency_init(&l);
	assert_true(sched_latency_wake(&l, 7, 100));
	assert_true(sched_latency_wake(&l, 7, 110)); /* The thread has been runnable since 100. */
	switch_to(&l, 130, 0, true, 7);
	assert_true(sched_latency_run(&l, 7, 150, 20));
	switch_to(&l, 150, 7, false, 0);
	assert_true(sched_latency_wake(&l, 7, 190));
	switch_to(&l, 200, 0, true, 7);
	assert_int_equal(task(&l, 7)->waits, 2);
	assert_int_equal(task(&l, 7)->wait_ns, 40);
	assert_int_equal(task(&l, 7)->max_ns, 30);
	assert_int_equal(task(&l, 7)->max_from_ns, 100);
	assert_int_equal(task(&l, 7)->max_to_ns, 130);
	assert_int_equal(task(&l, 7)->runtime_ns, 20);
	assert_int_equal(l.wakes, 2);
	assert_int_equal(l.wrong_switches, 0);
	sched_latency_deinit(&l);
}

static void who_is_preempted_waits(void **state)
{
	struct sched_latency l;
	sched_latency_init(&l);
	switch_to(&l, 100, 7, true, 8);
	switch_to(&l, 160, 8, false, 7);
	assert_int_equal(task(&l, 7)->wait_ns, 60);
	switch_to(&l, 170, 7, false, 8); /* The recording has no wakeup of this thread. */
	assert_int_equal(task(&l, 8)->waits, 1);
	assert_int_equal(task(&l, 8)->wait_ns, 0);
	sched_latency_deinit(&l);
}

static void missing_switches_are_counted(void **state)
{
	struct sched_latency l;
	sched_latency_init(&l);
	switch_to(&l, 100, 7, true, 8);
	switch_to(&l, 160, 9, false, 7);
	assert_int_equal(l.wrong_switches, 1);
	sched_latency_deinit(&l);
}

static void times_that_go_back_make_no_delay(void **state)
{
	struct sched_latency l;
	sched_latency_init(&l);
	switch_to(&l, 100, 7, false, 8);
	assert_true(sched_latency_wake(&l, 7, 90));
	switch_to(&l, 120, 8, true, 7);
	assert_int_equal(task(&l, 7)->waits, 0);
	switch_to(&l, 110, 7, false, 8);
	assert_int_equal(task(&l, 8)->wait_ns, 0);
	sched_latency_deinit(&l);
}

static void what_is_not_counted_goes_on(void **state)
{
	struct sched_latency l;
	sched_latency_init(&l);
	assert_true(sched_latency_wake(&l, 7, 100));
	assert_true(sched_latency_switch(&l, &(struct sched_switch){.next = 7, .cpu = 70000, .time_ns = 120}));
	assert_int_equal(task(&l, 7)->waits, 0);
	assert_int_equal(task(&l, 7)->phase, SCHED_ON_CPU);
	sched_latency_deinit(&l);
}

static void no_delay_lasts_across_lost_events(void **state)
{
	struct sched_latency l;
	sched_latency_init(&l);
	switch_to(&l, 100, 7, false, 8);
	assert_true(sched_latency_wake(&l, 7, 110));
	sched_latency_lost(&l, SCHED_LATENCY_ANY_CPU, 120);
	/* Thread 7 may have run and been woken again before 120; thread 9 started during the loss. */
	switch_to(&l, 500, 9, true, 7);
	assert_int_equal(task(&l, 7)->waits, 0);
	assert_int_equal(l.wrong_switches, 0);
	assert_int_equal(l.cut, 1);
	switch_to(&l, 510, 7, true, 9); /* Thread 9 has been runnable since 500. */
	assert_int_equal(task(&l, 9)->wait_ns, 10);
	sched_latency_lost(&l, 5, 0); /* A loss without a time, on an unknown CPU, is after the last switch. */
	/* The thread was left runnable: it has run and slept during the loss. */
	assert_true(sched_latency_wake(&l, 7, 520));
	switch_to(&l, 525, 9, false, 7);
	assert_int_equal(task(&l, 7)->max_ns, 5);
	sched_latency_deinit(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_delay_is_from_the_wake_up_to_the_switch),
		cmocka_unit_test(who_is_preempted_waits),
		cmocka_unit_test(missing_switches_are_counted),
		cmocka_unit_test(times_that_go_back_make_no_delay),
		cmocka_unit_test(what_is_not_counted_goes_on),
		cmocka_unit_test(no_delay_lasts_across_lost_events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
