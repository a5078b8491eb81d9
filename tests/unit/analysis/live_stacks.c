/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live/live_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "unit_test.h"

#define BASE UINT64_C(0x7000)

static uint8_t memory[4096]; /* The stack of a thread, which begins at BASE. */

static struct tally_bytes at(size_t from, size_t len)
{
	return (struct tally_bytes){memory + from, len};
}

static void fill(size_t from, size_t len, unsigned seed)
{
	for (size_t i = 0; i < len; i++)
		memory[from + i] = (uint8_t)((seed += 7919) >> 3);
}

static void expect(struct live_stacks *stacks, size_t from, size_t len, bool is_cut, size_t known)
{
	struct tally_bytes bytes = live_stacks_extend(stacks, 1, BASE + from, at(from, len), is_cut);
	assert_int_equal(bytes.len, known);
	assert_memory_equal(bytes.data, memory + from, known);
}

static void test_a_short_copy_goes_on_as_an_earlier_one_did(void **state)
{
	struct live_stacks stacks = {0};
	fill(0, sizeof(memory), 1);
	expect(&stacks, 3000, 1096, false, 1096); /* The stack dump is complete, so nothing is retained. */
	assert_int_equal(stacks.thread_count, 0);
	expect(&stacks, 2500, 1000, true, 1000);
	expect(&stacks, 3000, 1096, false, 1096);
	expect(&stacks, 2500, 1000, true, 1596); /* The stack is deeper: the rest is known. */
	expect(&stacks, 1800, 1000, true, 2296);
	expect(&stacks, 2600, 1000, true, 1496); /* The stack is shorter again. */
	/* There is no overlap with known parts. */
	expect(&stacks, 100, 1000, true, 1000);
	live_stacks_deinit(&stacks);
}

static void test_a_stack_that_was_left_is_not_used(void **state)
{
	struct live_stacks stacks = {0};
	fill(0, sizeof(memory), 1);
	expect(&stacks, 3000, 100, true, 100);
	expect(&stacks, 3000, 1096, false, 1096);
	fill(3000, 600, 99); /* Other calls have overwritten the memory. */
	expect(&stacks, 2500, 1000, true, 1000);
	live_stacks_deinit(&stacks);
}

static void test_threads_and_sizes_are_bounded(void **state)
{
	struct live_stacks stacks = {0};
	fill(0, sizeof(memory), 1);
	for (int32_t tid = 0; tid < 3 * LIVE_THREADS_MAX; tid++) {
		assert_int_equal(live_stacks_extend(&stacks, tid, BASE, at(0, 100), true).len, 100);
		assert_true(stacks.thread_count <= LIVE_THREADS_MAX);
	}
	/* A deeper stack than is retained. */
	size_t len = 65528;
	uint8_t *copy = calloc(1, len);
	uint64_t sp = UINT64_C(1) << 40;
	size_t most = 0;
	for (int i = 0; i < 40; i++, sp -= len - 4096) {
		struct tally_bytes known = live_stacks_extend(&stacks, 9, sp, (struct tally_bytes){copy, len}, i > 0);
		assert_true(known.len >= len && known.len <= LIVE_STACK_MAX);
		most = MAX(known.len, most);
	}
	assert_true(most > LIVE_STACK_MAX / 2);
	/* An address at the end of the address space. */
	assert_int_equal(live_stacks_extend(&stacks, 9, UINT64_MAX - 5, (struct tally_bytes){copy, 64}, true).len, 64);
	assert_int_equal(live_stacks_extend(&stacks, 9, 0, (struct tally_bytes){copy, 0}, true).len, 0);
	free(copy);
	live_stacks_deinit(&stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_short_copy_goes_on_as_an_earlier_one_did),
		cmocka_unit_test(test_a_stack_that_was_left_is_not_used),
		cmocka_unit_test(test_threads_and_sizes_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
