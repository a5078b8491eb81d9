/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/wait_tracker.h"

#include <string.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "unit_test.h"

#define TID 7

struct got {
	struct off_cpu_wait waits[16];
	char wakers[16][WAIT_RECORD_COMM];
	size_t count;
};

static enum tally_status take(void *context, const struct off_cpu_wait *wait, struct tally_error *err)
{
	struct got *got = context;
	assert_true(got->count < ARRAY_LEN(got->waits));
	memcpy(got->wakers[got->count], wait->record.waker_comm.data, wait->record.waker_comm.len);
	got->waits[got->count++] = *wait;
	return TALLY_OK;
}

struct fixture {
	struct wait_stacks stacks;
	struct wait_tracker tracker;
	struct got got;
	struct off_cpu_sink sink;
};

static void begin(struct fixture *f, uint64_t threshold_ns)
{
	*f = (struct fixture){.tracker.config = {.wants_preempted = true, .threshold_ns = threshold_ns}};
	f->tracker.config.stacks = &f->stacks;
	f->sink = (struct off_cpu_sink){take, &f->got};
}

static void end(struct fixture *f)
{
	wait_tracker_deinit(&f->tracker);
	wait_stacks_deinit(&f->stacks);
}

static void apply(struct fixture *f, struct wait_event event)
{
	event.tid = event.tid ? event.tid : TID;
	assert_int_equal(wait_tracker_apply(&f->tracker, &event, &f->sink, NULL), TALLY_OK);
}

static void expect(const struct got *got, size_t index, enum wait_state state, uint64_t end_ns, uint64_t period_ns)
{
	assert_true(index < got->count);
	assert_int_equal(got->waits[index].record.state, state);
	assert_int_equal(got->waits[index].end_ns, end_ns);
	assert_int_equal(got->waits[index].period_ns, period_ns);
}

static void a_wait_is_blocked_and_then_runnable(void **state)
{
	struct fixture f;
	begin(&f, 0);
	apply(&f, (struct wait_event){
			  .kind = WAIT_EVENT_OUT, .time_ns = 100, .pid = 5, .state = WAIT_SLEEPING, .syscall = -1});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_WAKE,
			  .time_ns = 150,
			  .flags = WAIT_FLAG_WAKER,
			  .waker_tid = 9,
			  .waker_comm = "waker"});
	/* The wakeup comes too late. */
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_WAKE, .time_ns = 160, .waker_tid = 10});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_IN, .time_ns = 170, .cpu = 1});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_IN, .time_ns = 180});
	assert_int_equal(f.got.count, 2);
	expect(&f.got, 0, WAIT_SLEEPING, 150, 50);
	expect(&f.got, 1, WAIT_RUNNABLE, 170, 20);
	assert_int_equal(f.got.waits[0].pid, 5);
	assert_int_equal(f.got.waits[0].cpu, 1);
	assert_int_equal(f.got.waits[0].record.waker_tid, 9);
	assert_string_equal(f.got.wakers[0], "waker");
	end(&f);
}

static void preempted_threads_count_if_wanted(void **state)
{
	for (int wanted = 0; wanted < 2; wanted++) {
		struct fixture f;
		begin(&f, 0);
		f.tracker.config.wants_preempted = wanted;
		apply(&f, (struct wait_event){.kind = WAIT_EVENT_OUT, .time_ns = 10, .state = WAIT_RUNNABLE});
		apply(&f, (struct wait_event){.kind = WAIT_EVENT_WAKE, .time_ns = 15});
		apply(&f, (struct wait_event){.kind = WAIT_EVENT_IN, .time_ns = 30});
		assert_int_equal(f.got.count, wanted);
		if (wanted)
			expect(&f.got, 0, WAIT_RUNNABLE, 30, 20);
		end(&f);
	}
}

static void short_waits_are_added_up(void **state)
{
	struct fixture f;
	begin(&f, 1000);
	for (uint64_t i = 0; i < 5; i++) {
		apply(&f, (struct wait_event){.kind = WAIT_EVENT_OUT,
				  .time_ns = i * 100,
				  .state = WAIT_SLEEPING,
				  .syscall = i == 4 ? SYS_write : SYS_read});
		apply(&f, (struct wait_event){.kind = WAIT_EVENT_IN, .time_ns = i * 100 + 10});
	}
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_OUT, .time_ns = 1000, .state = WAIT_STOPPED});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_IN, .time_ns = 2000});
	assert_int_equal(f.got.count, 1);
	expect(&f.got, 0, WAIT_STOPPED, 2000, 1000);
	assert_int_equal(wait_tracker_give_sums(&f.tracker, &f.sink, NULL), TALLY_OK);
	assert_int_equal(f.got.count, 3);
	expect(&f.got, 1, WAIT_IO, 310, 40);
	assert_int_equal(f.got.waits[1].record.count, 4);
	assert_int_equal(f.got.waits[1].record.flags, WAIT_FLAG_SUM);
	assert_int_equal(f.got.waits[2].record.count, 1);
	assert_int_equal(wait_tracker_give_sums(&f.tracker, &f.sink, NULL), TALLY_OK);
	assert_int_equal(f.got.count, 3);
	end(&f);
}

static void a_look_tells_what_events_did_not(void **state)
{
	struct fixture f;
	const uint64_t ip = 0x401000;
	begin(&f, 0);
	assert_true(wait_stacks_add(&f.stacks, 3, &ip, 0, 1));
	apply(&f, (struct wait_event){
			  .kind = WAIT_EVENT_LOOK, .time_ns = 5, .state = WAIT_SLEEPING}); /* The thread is unknown. */
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_OUT, .time_ns = 10, .state = WAIT_OTHER, .syscall = -1});
	apply(&f, (struct wait_event){
			  .kind = WAIT_EVENT_LOOK, .time_ns = 20, .state = WAIT_UNINTERRUPTIBLE, .syscall = -1});
	/* The stack of another inspection. */
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_LOOK_STACK, .time_ns = 19, .stack = 4});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_LOOK_STACK, .time_ns = 20, .stack = 3});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_IN, .time_ns = 40});
	expect(&f.got, 0, WAIT_UNINTERRUPTIBLE, 40, 30);
	assert_int_equal(f.got.waits[0].ips_count, 2);
	/* The next wait has no information of it, nor of an inspection after its end. */
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_OUT, .time_ns = 50, .state = WAIT_OTHER, .syscall = -1});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_IN, .time_ns = 60});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_LOOK, .time_ns = 61, .state = WAIT_SLEEPING});
	expect(&f.got, 1, WAIT_OTHER, 60, 10);
	assert_int_equal(f.got.waits[1].ips_count, 0);
	end(&f);
}

static void stacks_of_their_own_belong_to_the_next_wait(void **state)
{
	struct fixture f;
	const uint64_t ip = 0xffffffff81000000;
	begin(&f, 0);
	assert_true(wait_stacks_add(&f.stacks, 3, &ip, 1, 0));
	apply(&f, (struct wait_event){
			  .kind = WAIT_EVENT_STACK, .time_ns = 9, .stack = 3, .state = WAIT_DISK, .syscall = -1});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_OUT, .time_ns = 10, .state = WAIT_OTHER, .syscall = -1});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_IN, .time_ns = 20});
	expect(&f.got, 0, WAIT_DISK, 20, 10);
	assert_int_equal(f.got.waits[0].ips_count, 2);
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_OUT, .time_ns = 30, .state = WAIT_OTHER, .syscall = -1});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_IN, .time_ns = 40});
	expect(&f.got, 1, WAIT_OTHER, 40, 10);
	end(&f);
}

static void what_others_tell_of_a_wake_up_gives_way(void **state)
{
	struct fixture f;
	begin(&f, 0);
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_OUT, .time_ns = 10, .state = WAIT_SLEEPING, .syscall = -1});
	apply(&f, (struct wait_event){
			  .kind = WAIT_EVENT_OTHERS_WAKE, .time_ns = 20, .waker_tid = 9, .waker_comm = "poor"});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_WAKE, .time_ns = 21, .waker_tid = 8, .waker_comm = "other"});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_WAKE, .time_ns = 22, .waker_tid = 9, .waker_comm = "better"});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_IN, .time_ns = 30});
	assert_string_equal(f.got.wakers[0], "better");
	end(&f);
}

static void threads_end_and_waits_last(void **state)
{
	struct fixture f;
	begin(&f, 0);
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_NEW, .time_ns = 10, .state = WAIT_RUNNABLE, .syscall = -1});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_IN, .time_ns = 15});
	expect(&f.got, 0, WAIT_RUNNABLE, 15, 5);
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_EXIT, .time_ns = 20});
	apply(&f, (struct wait_event){/* The last event of the old thread. */
			  .kind = WAIT_EVENT_OUT,
			  .time_ns = 25,
			  .state = WAIT_OTHER});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_EXEC, .time_ns = 26}); /* A thread took over the ID by exec. */
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_OUT, .time_ns = 30, .state = WAIT_SLEEPING, .syscall = -1});
	apply(&f, (struct wait_event){
			  .kind = WAIT_EVENT_OUT, .time_ns = 31, .tid = 8, .state = WAIT_SLEEPING, .syscall = -1});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_LOST, .time_ns = 32});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_OUT, .time_ns = 33, .state = WAIT_SLEEPING, .syscall = -1});
	assert_int_equal(wait_tracker_finish(&f.tracker, 40, &f.sink, NULL), TALLY_OK);
	assert_int_equal(f.got.count, 2);
	expect(&f.got, 1, WAIT_SLEEPING, 40, 7);
	assert_int_equal(f.got.waits[1].record.flags, WAIT_FLAG_UNFINISHED);
	end(&f);
}

/* Returns whether the thread has not left the CPU since that number of switches. */
static bool has_stayed(void *context, uint32_t tid, uint64_t switches)
{
	const uint64_t *now = context;
	return now[tid] == switches;
}

static void lost_events_end_no_wait_that_goes_on(void **state)
{
	uint64_t now[] = {0, 10, 21, 30, 40, 50};
	struct fixture f;
	begin(&f, 0);
	f.tracker.config.has_stayed = has_stayed;
	f.tracker.config.context = now;
	for (uint32_t tid = 1; tid <= 5; tid++)
		apply(&f, (struct wait_event){.kind = WAIT_EVENT_OUT,
				  .time_ns = 10,
				  .tid = tid,
				  .state = WAIT_SLEEPING,
				  .syscall = -1,
				  .switches = tid == 5 ? 0 : 10 * tid});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_LOST, .time_ns = 20});
	/* Thread 1 stays, 2 has run since, 5 is unknown, 3 ends its wait or another one, and 4 is inspected. */
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_IN, .time_ns = 30, .tid = 3});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_LOOK,
			  .time_ns = 31,
			  .tid = 4,
			  .state = WAIT_SLEEPING,
			  .syscall = SYS_nanosleep,
			  .switches = 40});
	assert_int_equal(f.got.count, 0);
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_IN, .time_ns = 35, .tid = 4});
	expect(&f.got, 0, WAIT_SLEEPING, 35, 25);
	assert_int_equal(f.got.waits[0].record.syscall, SYS_nanosleep);
	assert_int_equal(wait_tracker_finish(&f.tracker, 40, &f.sink, NULL), TALLY_OK);
	assert_int_equal(f.got.count, 2);
	expect(&f.got, 1, WAIT_SLEEPING, 40, 30);
	assert_int_equal(f.got.waits[1].tid, 1);
	end(&f);
}

static void a_look_at_another_wait_does_not_count(void **state)
{
	struct fixture f;
	begin(&f, 0);
	apply(&f, (struct wait_event){
			  .kind = WAIT_EVENT_OUT, .time_ns = 10, .state = WAIT_SLEEPING, .syscall = -1, .switches = 4});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_LOOK,
			  .time_ns = 11,
			  .state = WAIT_UNINTERRUPTIBLE,
			  .syscall = SYS_nanosleep,
			  .switches = 5});
	apply(&f, (struct wait_event){.kind = WAIT_EVENT_IN, .time_ns = 12});
	expect(&f.got, 0, WAIT_SLEEPING, 12, 2);
	assert_int_equal(f.got.waits[0].record.syscall, -1);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_is_blocked_and_then_runnable),
		cmocka_unit_test(preempted_threads_count_if_wanted),
		cmocka_unit_test(short_waits_are_added_up),
		cmocka_unit_test(a_look_tells_what_events_did_not),
		cmocka_unit_test(stacks_of_their_own_belong_to_the_next_wait),
		cmocka_unit_test(what_others_tell_of_a_wake_up_gives_way),
		cmocka_unit_test(threads_end_and_waits_last),
		cmocka_unit_test(lost_events_end_no_wait_that_goes_on),
		cmocka_unit_test(a_look_at_another_wait_does_not_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
