/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kernel_work.h"

#include "analysis/cpu_usage.h"
#include "unit_test.h"

static struct work_span take(
	struct kernel_work *work, enum work_kind kind, enum work_step step, uint64_t id, uint32_t cpu, uint64_t time_ns)
{
	struct work_span span;
	const struct work_event event = {
		.kind = kind, .step = step, .id = id, .cpu = cpu, .time_ns = time_ns, .name = STR("eth0")};
	assert_true(kernel_work_take(work, &event, &span));
	return span;
}

static void a_softirq_runs_where_it_is_raised(void **state)
{
	struct kernel_work work;
	kernel_work_init(&work);
	(void)take(&work, WORK_SOFTIRQ, WORK_IS_RAISED, 1, 0, 100);
	(void)take(&work, WORK_SOFTIRQ, WORK_IS_RAISED, 1, 0, 150); /* It is already pending. */
	(void)take(&work, WORK_SOFTIRQ, WORK_ENTERS, 1, 1, 160); /* On another CPU. */
	(void)take(&work, WORK_SOFTIRQ, WORK_ENTERS, 1, 0, 200);
	struct work_span span = take(&work, WORK_SOFTIRQ, WORK_EXITS, 1, 0, 230);
	assert_non_null(span.row);
	assert_int_equal(span.from_ns, 200);
	assert_int_equal(span.to_ns, 230);
	assert_int_equal(span.delay_ns, 100);
	assert_int_equal(span.row->run.total_ns, 30);
	assert_int_equal(span.row->delay.max_from_ns, 100);
	span = take(&work, WORK_SOFTIRQ, WORK_EXITS, 1, 1, 240);
	assert_int_equal(span.delay_ns, UINT64_MAX);
	assert_true(kernel_work_finish(&work));
	const struct work_row *here = kernel_work_row(&work, WORK_SOFTIRQ, 1, 0);
	assert_int_equal(here->unmatched_delays[WORK_IS_RAISED], 1);
	assert_int_equal(here->first_ns, 200);
	assert_int_equal(here->last_ns, 230);
	assert_int_equal(kernel_work_row(&work, WORK_SOFTIRQ, 1, 1)->unmatched_delays[WORK_ENTERS], 1);
	kernel_work_deinit(&work);
}

static void a_work_item_may_run_elsewhere(void **state)
{
	struct kernel_work work;
	kernel_work_init(&work);
	(void)take(&work, WORK_QUEUE, WORK_IS_RAISED, 0xff, 0, 100);
	(void)take(&work, WORK_QUEUE, WORK_ENTERS, 0xff, 1, 300);
	assert_int_equal(take(&work, WORK_QUEUE, WORK_EXITS, 0xff, 1, 301).delay_ns, 200);
	(void)take(&work, WORK_QUEUE, WORK_ENTERS, 0xff, 1, 400);
	assert_int_equal(take(&work, WORK_QUEUE, WORK_EXITS, 0xff, 1, 450).delay_ns, UINT64_MAX);
	const struct work_row *row = kernel_work_row(&work, WORK_QUEUE, 0xff, 1);
	assert_int_equal(row->run.count, 2);
	assert_int_equal(row->run.max_ns, 50);
	assert_int_equal(row->run.max_from_ns, 400);
	assert_int_equal(row->delay.count, 1);
	(void)take(&work, WORK_QUEUE, WORK_IS_RAISED, 0xee, 0, 500);
	assert_true(kernel_work_finish(&work));
	assert_int_equal(work.unmatched_items, 1);
	kernel_work_deinit(&work);
}

static void ends_without_the_other_are_counted(void **state)
{
	struct kernel_work work;
	kernel_work_init(&work);
	assert_null(take(&work, WORK_IRQ, WORK_EXITS, 5, 0, 10).row);
	(void)take(&work, WORK_IRQ, WORK_ENTERS, 5, 0, 20);
	(void)take(&work, WORK_IRQ, WORK_ENTERS, 5, 0, 30);
	assert_null(take(&work, WORK_IRQ, WORK_EXITS, 5, 0, 29).row); /* The time is earlier than at the entry. */
	assert_true(kernel_work_finish(&work));
	const struct work_row *row = kernel_work_row(&work, WORK_IRQ, 5, 0);
	assert_int_equal(row->unmatched_runs[WORK_EXITS], 2);
	assert_int_equal(row->unmatched_runs[WORK_ENTERS], 2);
	assert_int_equal(work.events, 4);
	assert_int_equal(row->run.count, 0);
	assert_true(str_equal(intern_get(&work.names, row->name), STR("eth0")));
	kernel_work_deinit(&work);
}

static void lost_events_cut_what_goes_on(void **state)
{
	struct kernel_work work;
	kernel_work_init(&work);
	(void)take(&work, WORK_SOFTIRQ, WORK_IS_RAISED, 1, 0, 10);
	(void)take(&work, WORK_SOFTIRQ, WORK_ENTERS, 3, 0, 20);
	(void)take(&work, WORK_SOFTIRQ, WORK_ENTERS, 3, 1, 20);
	(void)take(&work, WORK_QUEUE, WORK_IS_RAISED, 0xff, 1, 20);
	kernel_work_lost(&work, 0);
	assert_int_equal(work.cut, 3); /* The work item may have begun on that CPU. */
	assert_null(take(&work, WORK_SOFTIRQ, WORK_EXITS, 3, 0, 30).row);
	assert_non_null(take(&work, WORK_SOFTIRQ, WORK_EXITS, 3, 1, 30).row);
	(void)take(&work, WORK_SOFTIRQ, WORK_ENTERS, 1, 1, 40);
	kernel_work_lost(&work, UINT32_MAX);
	assert_int_equal(work.cut, 4);
	kernel_work_deinit(&work);
}

static void tasks_have_their_time_without_interrupts(void **state)
{
	struct cpu_usage usage;
	cpu_usage_init(&usage);
	assert_true(cpu_usage_switch(&usage, 1, 9, 100)); /* The time at which thread 9 began to run is unknown. */
	assert_true(cpu_usage_interrupt(&usage, 1, true, true, 110));
	assert_true(cpu_usage_interrupt(&usage, 1, false, true, 120));
	assert_true(cpu_usage_interrupt(&usage, 1, false, false, 125));
	assert_true(cpu_usage_interrupt(&usage, 1, true, false, 130));
	assert_true(cpu_usage_interrupt(&usage, 1, true, false, 131)); /* The interrupt has already ended. */
	assert_true(cpu_usage_switch(&usage, 1, 7, 200));
	assert_true(cpu_usage_switch(&usage, 1, 0, 300));
	assert_true(cpu_usage_switch(&usage, 0, 9, 0x100000000));
	assert_true(cpu_usage_switch(&usage, 0, 7, 0x100000000 + 50));
	cpu_usage_lost(&usage, 0);
	assert_true(cpu_usage_switch(&usage, 0, 7, 0x100000000 + 90));
	cpu_usage_finish(&usage);
	assert_int_equal(usage.cpus.items[1].total_ns, 200);
	assert_int_equal(usage.cpus.items[1].idle_ns, 100);
	assert_int_equal(usage.cpus.items[1].softirq_ns, 15);
	assert_int_equal(usage.cpus.items[1].interrupt_ns, 5);
	assert_int_equal(usage.cpus.items[0].total_ns, 50);
	assert_int_equal(usage.tasks.len, 2);
	assert_int_equal(usage.tasks.items[0].tid, 7);
	assert_int_equal(usage.tasks.items[0].runtime_ns, 80 + 50);
	assert_true(usage.tasks.items[0].share > 1.39 && usage.tasks.items[0].share < 1.41);
	cpu_usage_deinit(&usage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_softirq_runs_where_it_is_raised),
		cmocka_unit_test(a_work_item_may_run_elsewhere),
		cmocka_unit_test(ends_without_the_other_are_counted),
		cmocka_unit_test(lost_events_cut_what_goes_on),
		cmocka_unit_test(tasks_have_their_time_without_interrupts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
