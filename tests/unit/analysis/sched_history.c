/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sched_history.h"

#include "unit_test.h"

static struct sched_times leave(struct sched_history *h, uint64_t time_ns, int32_t tid, enum sched_left left)
{
	struct sched_times times;
	assert_true(sched_history_switch(h, &(struct sched_out){.tid = tid, .time_ns = time_ns, .left = left}, &times));
	if (!times.is_outside)
		sched_history_count(h, &times);
	return times;
}

static const struct sched_task *task(struct sched_history *h, int32_t tid)
{
	return &h->tasks.items[sched_history_task(h, tid)];
}

static void times_between_switches(void **state)
{
	struct sched_history h;
	sched_history_init(&h);
	/* The time at which thread 7 began to run is unknown. */
	assert_int_equal(leave(&h, 100, 7, SCHED_LEFT_RUNNABLE).run_ns, 0);
	assert_true(sched_history_wake(&h, 8, 90));
	assert_true(sched_history_wake(&h, 8, 95));
	struct sched_times times = leave(&h, 130, 8, SCHED_LEFT_BLOCKED);
	assert_int_equal(times.run_ns, 30);
	assert_int_equal(times.delay_ns, 10);
	assert_int_equal(times.wait_ns, 0);
	times = leave(&h, 150, 7, SCHED_LEFT_SLEEPING);
	assert_int_equal(times.wait_ns, 30);
	assert_int_equal(times.delay_ns, 0);
	(void)leave(&h, 160, 8, SCHED_LEFT_SLEEPING);
	(void)leave(&h, 170, 7, SCHED_LEFT_SLEEPING);
	assert_int_equal(task(&h, 7)->preempted_ns, 30);
	assert_int_equal(task(&h, 7)->slept_ns, 10);
	assert_int_equal(task(&h, 8)->blocked_ns, 20);
	assert_int_equal(task(&h, 8)->delayed_ns, 10);
	assert_int_equal(task(&h, 7)->run.count, 3);
	assert_int_equal(task(&h, 7)->run.max_ns, 20);
	assert_int_equal(h.first_ns, 100);
	assert_int_equal(h.last_ns, 170);
	sched_history_deinit(&h);
}

static void idle_times_are_of_who_left(void **state)
{
	struct sched_history h;
	sched_history_init(&h);
	(void)leave(&h, 100, 7, SCHED_LEFT_SLEEPING);
	struct sched_times times = leave(&h, 140, 0, SCHED_LEFT_RUNNABLE);
	assert_true(h.tasks.items[times.task].is_idle);
	assert_int_equal(times.behind, sched_history_task(&h, 7));
	assert_int_equal(task(&h, 7)->idle.total_ns, 40);
	assert_int_equal(h.tasks.items[h.cpus.items[0].idle].run.total_ns, 40);
	/* The thread that ran from 140 on was not recorded, so this idle time is not attributed to a thread. */
	times = leave(&h, 190, 0, SCHED_LEFT_RUNNABLE);
	assert_int_equal(times.behind, ID_TABLE_NONE);
	assert_int_equal(task(&h, 7)->idle.total_ns, 40);
	assert_int_equal(h.tasks.items[h.cpus.items[0].idle].run.total_ns, 90);
	sched_history_deinit(&h);
}

static void a_span_cuts_what_is_across_its_ends(void **state)
{
	struct sched_history h;
	sched_history_init(&h);
	h.from_ns = 200;
	h.to_ns = 300;
	assert_true(leave(&h, 150, 7, SCHED_LEFT_SLEEPING).is_outside);
	struct sched_times times = leave(&h, 230, 8, SCHED_LEFT_SLEEPING);
	assert_int_equal(times.run_ns, 30);
	times = leave(&h, 330, 7, SCHED_LEFT_SLEEPING);
	assert_int_equal(times.time_ns, 300);
	assert_int_equal(times.run_ns, 70);
	assert_int_equal(times.wait_ns, 80);
	assert_true(leave(&h, 340, 8, SCHED_LEFT_SLEEPING).is_outside);
	assert_int_equal(h.last_ns, 300);
	sched_history_deinit(&h);
}

static void a_number_that_is_forked_again_is_another_task(void **state)
{
	struct sched_history h;
	sched_history_init(&h);
	assert_true(sched_history_fork(&h, 7, 5, 1));
	uint32_t first = sched_history_task(&h, 7);
	assert_true(sched_history_fork(&h, 7, 5, 1));
	assert_int_equal(sched_history_task(&h, 7), first);
	assert_true(sched_history_exit(&h, 7));
	(void)leave(&h, 100, 7, SCHED_LEFT_SLEEPING); /* The last switch of a thread comes after its exit. */
	assert_int_equal(h.tasks.items[first].run.count, 1);
	assert_true(sched_history_fork(&h, 7, 6, 2));
	assert_int_not_equal(sched_history_task(&h, 7), first);
	assert_int_equal(task(&h, 7)->pid, 6);
	assert_int_equal(task(&h, 7)->parent, 2);
	assert_int_equal(task(&h, 7)->left_ns, 0);
	assert_int_equal(h.tasks.items[first].pid, 5);
	sched_history_deinit(&h);
}

static void times_that_go_back_are_none(void **state)
{
	struct sched_history h;
	sched_history_init(&h);
	(void)leave(&h, 100, 7, SCHED_LEFT_SLEEPING);
	assert_true(sched_history_wake(&h, 8, 120));
	struct sched_times times = leave(&h, 90, 8, SCHED_LEFT_SLEEPING);
	assert_int_equal(times.run_ns, 0);
	assert_int_equal(times.delay_ns, 0);
	sched_history_deinit(&h);
}

static void the_error_of_the_mean(void **state)
{
	struct sched_spread spread = {.count = 3, .mean = 14, .squares = 588 * 2};
	assert_float_equal(sched_spread_percent(&spread), 100, 0.01);
	spread.count = 1;
	assert_float_equal(sched_spread_percent(&spread), 0, 0);
}

static void waiting_before_a_migration(void **state)
{
	struct sched_history h;
	sched_history_init(&h);
	(void)leave(&h, 100, 7, SCHED_LEFT_SLEEPING);
	assert_true(sched_history_migrate(&h, 7, 110)); /* The thread is asleep, so it does not wait for a CPU. */
	assert_true(sched_history_wake(&h, 7, 120));
	assert_true(sched_history_migrate(&h, 7, 150));
	(void)leave(&h, 160, 8, SCHED_LEFT_RUNNABLE);
	assert_int_equal(leave(&h, 170, 7, SCHED_LEFT_RUNNABLE).pre_migration_ns, 30);
	assert_true(sched_history_migrate(&h, 8, 165));
	/* The thread was preempted, so it has waited since it left the CPU. */
	struct sched_times times = leave(&h, 180, 8, SCHED_LEFT_SLEEPING);
	assert_int_equal(times.pre_migration_ns, 5);
	(void)leave(&h, 190, 9, SCHED_LEFT_SLEEPING);
	assert_int_equal(leave(&h, 200, 7, SCHED_LEFT_SLEEPING).pre_migration_ns, 0);
	assert_int_equal(task(&h, 7)->migrations, 2);
	sched_history_deinit(&h);
}

static void nothing_goes_on_across_lost_events(void **state)
{
	struct sched_history h;
	sched_history_init(&h);
	(void)leave(&h, 100, 7, SCHED_LEFT_SLEEPING);
	assert_true(sched_history_wake(&h, 7, 110));
	(void)leave(&h, 120, 8, SCHED_LEFT_SLEEPING);
	assert_int_equal(h.cut, 0);
	assert_true(sched_history_lost(&h, 0, 130));
	/* The time at which it began to run is unknown. */
	struct sched_times times = leave(&h, 150, 7, SCHED_LEFT_SLEEPING);
	assert_true(times.is_cut);
	assert_int_equal(times.run_ns, 0);
	assert_int_equal(times.wait_ns, 0);
	assert_int_equal(times.delay_ns, 0);
	assert_int_equal(h.cut, 1);
	times = leave(&h, 160, 8, SCHED_LEFT_SLEEPING); /* The thread left at 120 and may have run before 130. */
	assert_int_equal(times.run_ns, 10);
	assert_int_equal(times.wait_ns, 0);
	assert_int_equal(h.cut, 2);
	times = leave(&h, 170, 7, SCHED_LEFT_SLEEPING); /* All of it comes after the loss. */
	assert_int_equal(times.wait_ns, 10);
	assert_int_equal(h.cut, 2);
	assert_true(sched_history_lost(&h, SCHED_ANY_CPU, 0)); /* A loss without a time is after the last switch. */
	assert_true(leave(&h, 180, 8, SCHED_LEFT_SLEEPING).is_cut);
	sched_history_deinit(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_between_switches),
		cmocka_unit_test(idle_times_are_of_who_left),
		cmocka_unit_test(a_span_cuts_what_is_across_its_ends),
		cmocka_unit_test(a_number_that_is_forked_again_is_another_task),
		cmocka_unit_test(times_that_go_back_are_none),
		cmocka_unit_test(waiting_before_a_migration),
		cmocka_unit_test(nothing_goes_on_across_lost_events),
		cmocka_unit_test(the_error_of_the_mean),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
