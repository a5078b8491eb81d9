/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/wait_parts.h"

#include "base/array.h"
#include "unit_test.h"

struct wait_parts_got {
	struct off_cpu_wait waits[4];
	size_t count;
};

static enum tally_status wait_parts_take(void *context, const struct off_cpu_wait *wait, struct tally_error *err)
{
	struct wait_parts_got *got = context;
	assert_true(got->count < ARRAY_LEN(got->waits));
	got->waits[got->count++] = *wait;
	return TALLY_OK;
}

static struct wait_parts_got parts_of(const struct wait_parts *parts)
{
	struct wait_parts_got got = {0};
	struct wait_stacks stacks = {0};
	const struct off_cpu_sink sink = {wait_parts_take, &got};
	uint64_t lost = 0;
	assert_int_equal(wait_parts_tell(&stacks, parts, &sink, &lost, NULL), TALLY_OK);
	wait_stacks_deinit(&stacks);
	return got;
}

static void expect_part(const struct off_cpu_wait *wait, enum wait_state state, uint64_t ns, uint64_t end_ns)
{
	assert_int_equal(wait->record.state, state);
	assert_int_equal(wait->period_ns, ns);
	assert_int_equal(wait->end_ns, end_ns);
}

/* The parts follow each other, and add up to the time off the CPU. */
static void a_wait_is_blocked_throttled_and_runnable(void **state)
{
	const struct wait_parts whole = {.state = WAIT_SLEEPING,
		.waker_comm = "",
		.syscall = -1,
		.count = 1,
		.blocked_ns = 50,
		.runnable_ns = 30,
		.throttled_ns = 20,
		.woken_ns = 150,
		.end_ns = 180};
	struct wait_parts_got got = parts_of(&whole);
	assert_int_equal(got.count, 3);
	expect_part(&got.waits[0], WAIT_SLEEPING, 50, 150);
	expect_part(&got.waits[1], WAIT_THROTTLED, 20, 170);
	expect_part(&got.waits[2], WAIT_RUNNABLE, 10, 180);
}

static void what_is_throttled_to_its_end_is_not_runnable(void **state)
{
	struct wait_parts parts = {.state = WAIT_RUNNABLE,
		.waker_comm = "",
		.syscall = -1,
		.count = 3,
		.runnable_ns = 30,
		.throttled_ns = 30,
		.woken_ns = 180,
		.end_ns = 180};
	struct wait_parts_got got = parts_of(&parts);
	assert_int_equal(got.count, 1);
	expect_part(&got.waits[0], WAIT_THROTTLED, 30, 180);
	/* Only the last end time of a sum is known. */
	parts.throttled_ns = 10;
	parts.is_summed = true;
	got = parts_of(&parts);
	assert_int_equal(got.count, 2);
	expect_part(&got.waits[0], WAIT_THROTTLED, 10, 180);
	expect_part(&got.waits[1], WAIT_RUNNABLE, 20, 180);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_is_blocked_throttled_and_runnable),
		cmocka_unit_test(what_is_throttled_to_its_end_is_not_runnable),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
