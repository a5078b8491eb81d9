#include "unit_test.h"

#include "analysis/stack_frames.h"
#include <stdlib.h>

static void lists_become_those_of_the_profile_where_they_are(void **state)
{
	static const struct stack_frame frames[] = {
		{.frame = 40}, {.frame = 41, .role = FRAME_FIRST}, {.frame = 42, .first_call = 1, .call_count = 2}};
	static const uint32_t inlined[] = {7, 8, 9};
	struct list_table table = {0};
	assert_int_equal(list_table_add(&table, (const uint32_t[]){0, 0, 1}, 3), 0);
	assert_int_equal(list_table_add(&table, (const uint32_t[]){0, 2, 1}, 3), 1);
	assert_int_equal(list_table_add(&table, (const uint32_t[]){1, 0}, 2), 2);
	assert_int_equal(list_table_add(&table, NULL, 0), 3);
	struct stack_frames stacks = {.stacks = &table, .frames = frames, .inlined = inlined};
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
	static const struct stack_frame frames[] = {
		{.frame = 1}, {.frame = 2, .role = FRAME_MAIN}, {.frame = 3, .role = FRAME_NAMELESS}};
	static const struct {
		uint32_t items[3], count;
		uint8_t kind;
	} cases[] = {
		{{0, 1, 2}, 3, STACK_IS_WHOLE}, /* the C library's caller of main has no name */
		{{1, 2}, 2, STACK_IS_WHOLE},
		{{0, 1}, 2, 0},
		{{0, 2}, 2, 0},
		{{1, 0, 2}, 3, 0},
		{{0}, 1, 0},
		{{2}, 1, STACK_IS_BARE},
	};
	struct list_table table = {0};
	size_t count = sizeof(cases) / sizeof(cases[0]);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(list_table_add(&table, cases[i].items, cases[i].count), i);
	struct stack_frames stacks = {.stacks = &table, .frames = frames};
	assert_true(stack_frames_translate(&stacks, 1));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(stacks.kinds[i], cases[i].kind);
	stack_frames_deinit(&stacks);
	list_table_deinit(&table);
}

#define MANY 30000

static void many_lists_are_shared_among_workers(void **state)
{
	struct stack_frame *frames = calloc(MANY, sizeof(*frames));
	struct list_table table = {0};
	for (uint32_t i = 0; i < MANY; i++) {
		frames[i].frame = 2 * i;
		frames[i].call_count = i % 3 == 2 ? i % 4 : 0;
		assert_int_equal(list_table_add(&table, &i, 1), i);
	}
	static const uint32_t inlined[] = {11, 22, 33};
	struct stack_frames stacks = {.stacks = &table, .frames = frames, .inlined = inlined};
	assert_true(stack_frames_translate(&stacks, 3));
	for (uint32_t i = 0; i < MANY; i++) {
		struct list list = stack_frames_get(&stacks, i);
		assert_int_equal(list.count, frames[i].call_count + 1);
		assert_memory_equal(list.items, inlined, frames[i].call_count * sizeof(*inlined));
		assert_int_equal(list.items[list.count - 1], 2 * i);
		assert_int_equal(stacks.hashes[i], list_table_hash(list.items, list.count));
	}
	stack_frames_deinit(&stacks);
	free(frames);
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
