/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timechart_io.h"

#include <errno.h>

#include "unit_test.h"

static const struct timechart_call reading = {SPAN_READ, true, true}, polling = {SPAN_POLL, true, false};

static void call(struct timechart_io *io, uint64_t start_ns, uint64_t end_ns, uint32_t descriptor, int64_t result)
{
	const struct timechart_entry entry = {start_ns, descriptor, INTERN_NONE};
	assert_true(timechart_io_enter(io, 0, &reading, &entry));
	assert_true(timechart_io_exit(io, 0, &reading, end_ns, result));
}

static void events_are_known_by_name(void **state)
{
	(void)state;
	struct timechart_call c;
	assert_true(timechart_call_of(STR("syscalls:sys_enter_pread64"), &c));
	assert_true(c.kind == SPAN_READ && c.is_entry && c.has_bytes);
	assert_true(timechart_call_of(STR("syscalls:sys_exit_recvmmsg"), &c));
	assert_true(c.kind == SPAN_RECEIVE && !c.is_entry && !c.has_bytes);
	assert_false(timechart_call_of(STR("syscalls:sys_enter_openat"), &c));
	assert_false(timechart_call_of(STR("sched:sched_switch"), &c));
	assert_false(timechart_call_of(STR("syscalls:sys_enter_"), &c));
	assert_string_equal(timechart_call_name(0), "read");
	assert_null(timechart_call_name(1000));
}

static void calls_are_spans(void **state)
{
	(void)state;
	struct tracks t;
	tracks_init(&t, 1000);
	(void)tracks_add(&t, TRACK_TASK, 7, 7);
	struct timechart_io io = {.tracks = &t, .merge_ns = 10, .skips_eagain = true};
	assert_true(timechart_io_exit(&io, 0, &reading, 50, 5)); /* The call began before the recording. */
	call(&io, 100, 120, 3, 4096);
	call(&io, 130, 140, 3, 100); /* The call is close to the last one, so they are merged. */
	call(&io, 145, 150, 4, 7); /* A call on another file. */
	call(&io, 200, 210, 3, -EAGAIN);
	call(&io, 300, 310, 3, -EIO);
	assert_true(timechart_io_enter(&io, 0, &polling, &(struct timechart_entry){400, TRACK_MIXED, INTERN_NONE}));
	assert_true(timechart_io_exit(&io, 0, &reading, 410, 5)); /* The exit of another call. */
	tracks_see(&t, 0, 500);
	assert_true(timechart_io_finish(&io));
	const struct track *track = &t.tracks.items[0];
	assert_int_equal(track->spans.len, 4);
	assert_int_equal(track->spans.items[0].end_ns, 140);
	assert_int_equal(track->spans.items[0].bytes, 4196);
	assert_int_equal(track->spans.items[0].count, 2);
	assert_int_equal(track->spans.items[0].held_ns, 30);
	assert_int_equal(track->spans.items[1].detail, 4);
	assert_int_equal(track->spans.items[2].error, EIO);
	assert_int_equal(track->spans.items[3].end_ns, 500);
	assert_true(track->spans.items[3].is_cut);
	assert_int_equal(track->sums[SPAN_READ].bytes, 4203);
	assert_int_equal(track->sums[SPAN_READ].count, 4);
	timechart_io_deinit(&io);
	tracks_deinit(&t);
}

static void who_is_gone_waits_no_more(void **state)
{
	(void)state;
	struct tracks t;
	tracks_init(&t, 1000);
	(void)tracks_add(&t, TRACK_TASK, 7, 7);
	struct timechart_io io = {.tracks = &t};
	assert_true(timechart_io_enter(&io, 0, &polling, &(struct timechart_entry){400, 3, INTERN_NONE}));
	timechart_io_forget(&io, 0);
	timechart_io_forget(&io, 5);
	tracks_see(&t, 0, 500);
	assert_true(timechart_io_finish(&io));
	assert_int_equal(t.tracks.items[0].spans.len, 0);
	timechart_io_deinit(&io);
	tracks_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_known_by_name),
		cmocka_unit_test(calls_are_spans),
		cmocka_unit_test(who_is_gone_waits_no_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
