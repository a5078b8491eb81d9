/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stack_frames.h"

#include <stdlib.h>

#include "base/array.h"
#include "unit_test.h"

static void lists_become_those_of_the_profile_where_they_are(void **state)
{
	static const uint32_t frames[] = {40, 41, 42}, numbers[] = {1, 2, 0}, inlined[] = {8, 9};
	static const uint8_t roles[] = {FRAME_OTHER, FRAME_FIRST, FRAME_OTHER | FRAME_HAS_CALLS};
	static const size_t calls[] = {0, 2, 2, 2};
	struct list_table table = {0};
	assert_int_equal(list_table_add(&table, (const uint32_t[]){0, 0, 1}, 3), 0);
	assert_int_equal(list_table_add(&table, (const uint32_t[]){0, 2, 1}, 3), 1);
	assert_int_equal(list_table_add(&table, (const uint32_t[]){1, 0}, 2), 2);
	assert_int_equal(list_table_add(&table, NULL, 0), 3);
	struct stack_frames stacks = {.stacks = &table,
		.frames = frames,
		.roles = roles,
		.numbers = numbers,
		.calls = calls,
		.inlined = inlined};
	assert_true(stack_frames_translate(&stacks, 2));

	static const uint32_t whole[] = {40, 40, 41}, called[] = {40, 8, 9, 42, 41}, cut[] = {41, 40};
	assert_memory_equal(list_table_get(&table, 0).items, whole, sizeof(whole));
	assert_int_equal(stacks.kinds[0], STACK_IS_WHOLE);
	assert_int_equal(stacks.hashes[0], list_table_hash(whole, 3));
	assert_int_equal(stack_frames_get(&stacks, 1).count, 5);
	assert_memory_equal(stack_frames_get(&stacks, 1).items, called, sizeof(called));
	assert_int_equal(stacks.hashes[1], list_table_hash(called, 5));
	assert_int_equal(stacks.kinds[1], STACK_HAS_CALLS | STACK_IS_WHOLE);
	assert_memory_equal(stack_frames_get(&stacks, 2).items, cut, sizeof(cut));
	assert_int_equal(stacks.kinds[2], 0);
	assert_int_equal(stacks.hashes[2], list_table_hash(cut, 2));
	assert_int_equal(list_table_get(&table, 3).count, 0);
	assert_int_equal(stacks.kinds[3], 0);
	stack_frames_deinit(&stacks);
	list_table_deinit(&table);
}

static void main_is_called_from_where_programs_begin(void **state)
{
	static const uint32_t frames[] = {1, 2, 3, 4};
	static const uint8_t roles[] = {FRAME_OTHER, FRAME_MAIN, FRAME_NAMELESS, FRAME_FIRST};
	static const struct {
		uint32_t items[5], count;
		uint8_t kind;
	} cases[] = {
		{{0, 1, 2}, 3, STACK_IS_WHOLE}, /* The caller of main in the C library has no symbol. */
		{{1, 2}, 2, STACK_IS_WHOLE},
		{{0, 1}, 2, 0},
		{{0, 2}, 2, 0},
		{{1, 0, 2}, 3, 0},
		{{0, 3}, 2, STACK_IS_WHOLE},
		{{3}, 1, STACK_IS_WHOLE},
		{{0, 3, 0, 0}, 4, STACK_IS_WHOLE}, /* The chain continued by mistake. */
		{{0, 3, 0, 0, 0}, 5, 0},
		{{3, 0}, 2, 0}, /* The function was running, and its caller precedes it. */
		{{0}, 1, 0},
		{{2}, 1, STACK_IS_BARE},
	};
	struct list_table table = {0};
	size_t count = ARRAY_LEN(cases);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(list_table_add(&table, cases[i].items, cases[i].count), i);
	struct stack_frames stacks = {.stacks = &table, .frames = frames, .roles = roles};
	assert_true(stack_frames_translate(&stacks, 1));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(stacks.kinds[i], cases[i].kind);
	stack_frames_deinit(&stacks);
	list_table_deinit(&table);
}

#define MANY 30000

static void many_lists_are_shared_among_workers(void **state)
{
	struct {
		uint32_t frames[MANY], numbers[MANY], inlined[MANY];
		uint8_t roles[MANY];
		size_t calls[MANY + 1];
	} *all = calloc(1, sizeof(*all));
	struct list_table table = {0};
	for (uint32_t i = 0; i < MANY; i++) {
		uint32_t calls = i % 3 == 2 ? i % 4 : 0;
		all->frames[i] = 2 * i;
		all->inlined[i] = 3 * i;
		all->numbers[i] = i;
		all->roles[i] = calls ? FRAME_HAS_CALLS : FRAME_OTHER;
		all->calls[i + 1] = all->calls[i] + calls;
		assert_int_equal(list_table_add(&table, &i, 1), i);
	}
	struct stack_frames stacks = {.stacks = &table,
		.frames = all->frames,
		.roles = all->roles,
		.numbers = all->numbers,
		.calls = all->calls,
		.inlined = all->inlined};
	assert_true(stack_frames_translate(&stacks, 3));
	for (uint32_t i = 0; i < MANY; i++) {
		struct list list = stack_frames_get(&stacks, i);
		size_t calls = all->calls[i + 1] - all->calls[i];
		assert_int_equal(list.count, calls + 1);
		assert_memory_equal(list.items, all->inlined + all->calls[i], calls * sizeof(uint32_t));
		assert_int_equal(list.items[list.count - 1], 2 * i);
		assert_int_equal(stacks.hashes[i], list_table_hash(list.items, list.count));
	}
	stack_frames_deinit(&stacks);
	free(all);
	list_table_deinit(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_become_those_of_the_profile_where_they_are),
		cmocka_unit_test(main_is_called_from_where_programs_begin),
		cmocka_unit_test(many_lists_are_shared_among_workers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
