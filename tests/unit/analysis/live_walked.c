/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live/live_walked.h"

#include "abi/attr.h"
#include "base/writer.h"
#include "unit_test.h"

#define HEAD offsetof(struct sample_stack, stack.ips)

static const struct perf_attr walked_attr = {.sample_type = SAMPLE_IDENTIFIER | SAMPLE_TID | SAMPLE_TIME | SAMPLE_RAW};

/* Returns whether a sample with these raw bytes is accepted. */
static bool live_walked_test_take(struct live_walked *walked, const void *raw, uint32_t told, uint32_t size)
{
	struct record_layout layout = record_layout_make(&walked_attr, false);
	struct writer w = {0};
	struct record record;
	writer_zeros(&w, layout.fixed_bytes);
	writer_u32(&w, told);
	writer_bytes(&w, raw, size);
	writer_zeros(&w, (8 - w.len % 8) % 8);
	writer_patch_u16(&w, 6, (uint16_t)w.len);
	((uint8_t *)w.data)[0] = RECORD_SAMPLE;
	assert_int_equal(record_at(writer_view(&w), false, 0, &record, NULL), TALLY_OK);
	bool is_taken = live_walked_take(walked, &layout, &record);
	writer_deinit(&w);
	return is_taken;
}

static struct sample_stack live_walked_test_stack(uint32_t tid, uint32_t count)
{
	struct sample_stack stack = {.magic = SAMPLE_STACK_MAGIC, .tid = tid, .stack = {.count = count}};
	for (uint32_t i = 0; i < count; i++)
		stack.stack.ips[i] = 0x1000 * tid + i;
	return stack;
}

static void test_each_thread_gets_its_stack_once(void **state)
{
	struct live_walked walked = {0};
	assert_int_equal(live_walked_init(&walked, NULL), TALLY_OK);
	for (uint32_t tid = 1; tid <= 3; tid++) {
		struct sample_stack stack = live_walked_test_stack(tid, tid);
		assert_true(live_walked_test_take(&walked, &stack, (uint32_t)HEAD + 8 * tid, (uint32_t)HEAD + 8 * tid));
	}
	const struct walk_stack *found = live_walked_find(&walked, 2);
	assert_non_null(found);
	assert_int_equal(found->count, 2);
	assert_int_equal(found->ips[1], 0x2001);
	assert_null(live_walked_find(&walked, 2));
	assert_null(live_walked_find(&walked, 9));
	assert_null(live_walked_find(&walked, 0));
	live_walked_forget(&walked);
	assert_null(live_walked_find(&walked, 1));
	assert_int_equal(walked.unmatched, 2);
	live_walked_deinit(&walked);
}

static void test_what_is_no_stack_is_refused(void **state)
{
	struct live_walked walked = {0};
	struct sample_stack stack = live_walked_test_stack(1, 2);
	assert_int_equal(live_walked_init(&walked, NULL), TALLY_OK);
	for (uint32_t size = 0; size < HEAD + 16; size++)
		assert_false(live_walked_test_take(&walked, &stack, size, size));
	assert_false(live_walked_test_take(&walked, &stack, 4000, (uint32_t)HEAD + 16));
	stack.stack.count = WALK_FRAMES + 1;
	assert_false(live_walked_test_take(&walked, &stack, sizeof(stack), sizeof(stack)));
	stack = live_walked_test_stack(1, 1);
	stack.stack.end = WALK_ENDS;
	assert_false(live_walked_test_take(&walked, &stack, sizeof(stack), sizeof(stack)));
	stack = live_walked_test_stack(1, 1);
	stack.magic++;
	assert_false(live_walked_test_take(&walked, &stack, sizeof(stack), sizeof(stack)));
	assert_null(live_walked_find(&walked, 1));
	live_walked_deinit(&walked);
}

static void test_ends_are_counted(void **state)
{
	struct stack_ends ends = {0};
	uint64_t unknown = 0;
	struct walk_stack stack = {.end = WALK_ROOT};
	live_walked_count(&stack, &ends, &unknown);
	stack = (struct walk_stack){.end = WALK_SHORT, .bridged = 2, .is_unknown = 1};
	live_walked_count(&stack, &ends, &unknown);
	assert_int_equal(ends.ends[UNWIND_ROOT], 1);
	assert_int_equal(ends.ends[UNWIND_STACK_SHORT], 1);
	assert_int_equal(ends.bridged, 1);
	assert_int_equal(unknown, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_thread_gets_its_stack_once),
		cmocka_unit_test(test_what_is_no_stack_is_refused),
		cmocka_unit_test(test_ends_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
