/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timechart.h"

#include "base/text.h"
#include "unit_test.h"

static void leave(struct timechart *c, uint32_t cpu, uint64_t time_ns, int32_t tid, enum sched_left left, int32_t next)
{
	const struct sched_out out = {.tid = tid, .pid = tid, .cpu = cpu, .time_ns = time_ns, .left = left};
	uint32_t text;
	assert_true(tracks_text(&c->tracks, STR("schedule"), &text));
	assert_true(timechart_switch(c, &out, next, text));
}

static void wake(struct timechart *c, uint64_t time_ns, int32_t tid, int32_t by)
{
	uint32_t text;
	assert_true(tracks_text(&c->tracks, STR("try_to_wake_up"), &text));
	assert_true(timechart_wake(c, &(struct timechart_wake){tid, by, time_ns, text}));
}

/* Returns "cpu0: run 10-20 @7!" and so on; ! marks truncated spans. */
static char *dump(const struct timechart *c, struct text *t)
{
	static const char *const kinds[SPAN_KINDS] = {"run", "wait", "blocked", "idle"};
	text_clear(t);
	for (size_t i = 0; i < c->tracks.tracks.len; i++) {
		const struct track *track = &c->tracks.tracks.items[i];
		text_printf(t, "%s%d:", track->kind == TRACK_CPU ? "cpu" : "", track->id);
		for (size_t j = 0; j < track->spans.len; j++) {
			const struct track_span *s = &track->spans.items[j];
			text_printf(t, " %s %u-%u", kinds[s->kind], (unsigned)s->start_ns, (unsigned)s->end_ns);
			if (s->detail != TRACK_MIXED)
				text_printf(t, "@%u", s->detail);
			text_str(t, s->is_cut ? "!" : "");
		}
		text_char(t, '\n');
	}
	text_char(t, 0);
	return t->data;
}

static void tasks_run_wait_and_block(void **state)
{
	(void)state;
	struct text t = {0};
	struct timechart c;
	timechart_init(&c, 1000);
	wake(&c, 100, 8, 7);
	leave(&c, 0, 120, 7, SCHED_LEFT_BLOCKED, 8); /* Since before 100. */
	leave(&c, 0, 150, 8, SCHED_LEFT_SLEEPING, 0);
	wake(&c, 170, 7, TIMECHART_INTERRUPT);
	leave(&c, 0, 180, 0, SCHED_LEFT_RUNNABLE, 7);
	leave(&c, 0, 200, 7, SCHED_LEFT_RUNNABLE, 8);
	leave(&c, 0, 230, 8, SCHED_LEFT_BLOCKED, 7);
	wake(&c, 260, 9, 7);
	assert_true(timechart_finish(&c));
	assert_string_equal(dump(&c, &t), "7: run 100-120@0! blocked 120-170 wait 170-180 run 180-200@0 wait 200-230 "
					  "run 230-260@0!\n"
					  "8: wait 100-120@0 run 120-150@0 run 200-230@0 blocked 230-260!\n"
					  "cpu0: run 100-120@0! run 120-150@1 run 180-200@0 run 200-230@1 "
					  "run 230-260@0!\n"
					  "9:\n");
	assert_int_equal(c.tracks.arrows.len, 3);
	assert_int_equal(c.tracks.arrows.items[1].from, TRACK_NONE);
	assert_int_equal(c.tracks.tracks.items[0].sums[SPAN_RUNNING].ns, 70);
	text_deinit(&t);
	timechart_deinit(&c);
}

static void waits_end_where_a_task_came_onto_a_cpu(void **state)
{
	(void)state;
	struct text t = {0};
	struct timechart c;
	timechart_init(&c, 1000);
	leave(&c, 0, 100, 7, SCHED_LEFT_SLEEPING, 0);
	wake(&c, 110, 8, 7);
	leave(&c, 0, 120, 0, SCHED_LEFT_RUNNABLE, 8);
	/* Neither that thread 8 left nor that thread 7 came is recorded. */
	leave(&c, 0, 200, 7, SCHED_LEFT_SLEEPING, 0);
	wake(&c, 210, 9, 7);
	leave(&c, 0, 220, 0, SCHED_LEFT_RUNNABLE, 9);
	leave(&c, 0, 240, 9, SCHED_LEFT_SLEEPING, 0);
	assert_true(timechart_finish(&c));
	assert_string_equal(dump(&c, &t), "cpu0: run 220-240@3\n"
					  "7:\n"
					  "8: wait 110-120@1\n"
					  "9: wait 210-220@1 run 220-240@0\n");
	text_deinit(&t);
	timechart_deinit(&c);
}

static void nothing_goes_on_across_lost_events(void **state)
{
	(void)state;
	struct text t = {0};
	struct timechart c;
	timechart_init(&c, 1000);
	leave(&c, 0, 100, 7, SCHED_LEFT_BLOCKED, 8);
	leave(&c, 1, 105, 9, SCHED_LEFT_RUNNABLE, 10);
	assert_true(timechart_lost(&c, 0, 150));
	leave(&c, 1, 170, 10, SCHED_LEFT_SLEEPING, 9);
	leave(&c, 0, 180, 8, SCHED_LEFT_SLEEPING, 7);
	leave(&c, 1, 190, 9, SCHED_LEFT_SLEEPING, 0);
	leave(&c, 0, 200, 7, SCHED_LEFT_SLEEPING, 0);
	assert_true(timechart_finish(&c));
	/* It is unknown that 8 ran from 100 to 180, that 7 was blocked until then, and that 9 waited for
	 * the other CPU. */
	assert_string_equal(dump(&c, &t), "cpu0: run 180-200@1\n"
					  "7: run 180-200@0\n"
					  "cpu1: run 100-105@3! run 105-170@5 run 170-190@3\n"
					  "9: run 100-105@1! run 170-190@1\n"
					  "8:\n"
					  "10: run 105-170@1\n");
	text_deinit(&t);
	timechart_deinit(&c);
}

static void backtraces_are_of_what_happened(void **state)
{
	(void)state;
	struct timechart c;
	timechart_init(&c, 1000);
	leave(&c, 0, 100, 7, SCHED_LEFT_BLOCKED, 0);
	wake(&c, 150, 7, 8);
	leave(&c, 0, 170, 0, SCHED_LEFT_RUNNABLE, 7);
	leave(&c, 0, 190, 7, SCHED_LEFT_SLEEPING, 0);
	assert_true(timechart_finish(&c));
	const struct track *task = &c.tracks.tracks.items[timechart_track(&c, 7, 0)];
	assert_int_equal(task->spans.len, 3);
	assert_int_equal(task->spans.items[0].kind, SPAN_BLOCKED);
	assert_string_equal(intern_get(&c.tracks.strings, task->spans.items[0].text).data, "schedule");
	assert_string_equal(intern_get(&c.tracks.strings, task->spans.items[1].text).data, "try_to_wake_up");
	assert_int_equal(task->spans.items[1].detail, timechart_track(&c, 8, 0));
	timechart_deinit(&c);
}

static void cpus_idle_and_change_their_frequency(void **state)
{
	(void)state;
	struct text t = {0};
	struct timechart c;
	timechart_init(&c, 1000);
	assert_true(timechart_idle(&c, 1, 100, 2));
	assert_true(timechart_idle(&c, 1, 150, TIMECHART_BUSY));
	assert_true(timechart_frequency(&c, 1, 160, 2400000));
	assert_true(timechart_idle(&c, 1, 170, 1));
	assert_true(timechart_idle(&c, 1, 180, 3)); /* A deeper state, without leaving idle. */
	assert_true(timechart_idle(&c, 1, 200, 3));
	assert_true(timechart_finish(&c));
	assert_string_equal(dump(&c, &t), "cpu1: idle 100-150@2 idle 170-180@1 idle 180-200@3\n");
	assert_int_equal(c.tracks.tracks.items[0].levels.items[0].value, 2400000);
	text_deinit(&t);
	timechart_deinit(&c);
}

static void a_number_that_is_forked_again_has_a_track_of_its_own(void **state)
{
	(void)state;
	struct timechart c;
	timechart_init(&c, 1000);
	assert_true(timechart_name(&c, 7, 1, STR("sh")) && timechart_name(&c, 0, 1, STR("swapper")));
	assert_int_equal(c.tracks.tracks.len, 1);
	assert_true(timechart_exit(&c, 7) && timechart_fork(&c, 7, 7, 1));
	leave(&c, 0, 100, 7, SCHED_LEFT_SLEEPING, 0);
	assert_int_equal(c.tracks.tracks.len, 3);
	assert_int_equal(timechart_track(&c, 7, 0), 2);
	assert_int_equal(timechart_track(&c, 0, 0), TRACK_NONE);
	assert_int_equal(timechart_track(&c, -5, 0), TRACK_NONE);
	timechart_deinit(&c);
}

static void runs(struct timechart *c, int32_t tid, uint32_t cpu, uint64_t since_ns, uint64_t time_ns)
{
	const struct timechart_on on = {.tid = tid, .pid = tid, .cpu = cpu, .since_ns = since_ns, .time_ns = time_ns};
	assert_true(timechart_on(c, &on));
}

static void waits(struct timechart *c, int32_t tid, uint64_t start_ns, uint64_t end_ns)
{
	const struct timechart_off off = {.tid = tid,
		.pid = tid,
		.text = INTERN_NONE,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.kind = SPAN_WAITING};
	assert_true(timechart_off(c, &off));
}

/* The time between a sample and the next wait is unknown, because it may contain short waits. A CPU cannot run two
 * threads at once. */
static void what_is_not_recorded_is_not_running(void **state)
{
	(void)state;
	struct text t = {0};
	struct timechart c;
	timechart_init(&c, 1000);
	runs(&c, 7, 0, 110, 120);
	runs(&c, 7, 0, 121, 131); /* This span is adjacent. */
	runs(&c, 8, 0, 126, 136);
	waits(&c, 7, 140, 160);
	runs(&c, 7, 0, 155, 165);
	runs(&c, 7, 0, 190, 200);
	waits(&c, 8, 150, 300);
	assert_true(timechart_finish(&c));
	assert_string_equal(dump(&c, &t), "7: run 110-131@0 wait 140-160 run 160-165@0 run 190-200@0\n"
					  "cpu0: run 110-131@0 run 131-136@2 run 160-165@0 run 190-200@0\n"
					  "8: run 131-136@0 wait 150-300\n");
	text_deinit(&t);
	timechart_deinit(&c);
}

static void threads_run_between_waits_that_are_all_recorded(void **state)
{
	(void)state;
	struct text t = {0};
	struct timechart c;
	timechart_init(&c, 1000);
	c.has_all_waits = true;
	waits(&c, 7, 100, 120);
	waits(&c, 7, 150, 160);
	runs(&c, 7, 0, 180, 190);
	assert_true(timechart_finish(&c));
	assert_string_equal(dump(&c, &t), "7: wait 100-120 run 120-150@0 wait 150-160 run 160-190@0\n"
					  "cpu0: run 120-150@0 run 160-190@0\n");
	text_deinit(&t);
	timechart_deinit(&c);
}

static void threads_end_when_they_end(void **state)
{
	(void)state;
	struct text t = {0};
	struct timechart c;
	timechart_init(&c, 1000);
	runs(&c, 7, 0, 110, 120);
	assert_true(timechart_exit(&c, 7));
	waits(&c, 7, 130, 160);
	runs(&c, 7, 0, 170, 180);
	assert_int_equal(c.left_out, 1);
	assert_true(timechart_goes_on_as(&c, 7, 7)); /* Another thread of the process called exec. */
	runs(&c, 7, 0, 190, 200);
	assert_true(timechart_goes_on_as(&c, 7, 7));
	assert_true(timechart_finish(&c));
	assert_string_equal(dump(&c, &t), "7: run 110-120@0\ncpu0: run 110-120@0 run 190-200@2\n7: run 190-200@0\n");
	text_deinit(&t);
	timechart_deinit(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_run_wait_and_block),
		cmocka_unit_test(waits_end_where_a_task_came_onto_a_cpu),
		cmocka_unit_test(nothing_goes_on_across_lost_events),
		cmocka_unit_test(backtraces_are_of_what_happened),
		cmocka_unit_test(cpus_idle_and_change_their_frequency),
		cmocka_unit_test(what_is_not_recorded_is_not_running),
		cmocka_unit_test(threads_run_between_waits_that_are_all_recorded),
		cmocka_unit_test(threads_end_when_they_end),
		cmocka_unit_test(a_number_that_is_forked_again_has_a_track_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
