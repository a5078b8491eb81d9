/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <string.h>

#include "base/vec.h"
#include "unit_test.h"

static void blocks_are_zeroed_aligned_and_apart(void **state)
{
	struct arena a;
	arena_init(&a);
	unsigned char *blocks[300];
	for (size_t i = 0; i < 300; i++) {
		size_t alignment = (size_t)1 << (i % 7);
		blocks[i] = arena_alloc(&a, i * 7, alignment);
		assert_non_null(blocks[i]);
		assert_int_equal((uintptr_t)blocks[i] % alignment, 0);
		for (size_t k = 0; k < i * 7; k++)
			assert_int_equal(blocks[i][k], 0);
		memset(blocks[i], (int)(i & 0xff), i * 7);
	}
	for (size_t i = 0; i < 300; i++)
		for (size_t k = 0; k < i * 7; k++)
			assert_int_equal(blocks[i][k], i & 0xff);
	assert_true(a.used >= 299 * 300 / 2 * 7);
	arena_deinit(&a);
	assert_null(a.chunks);
}

static void a_block_larger_than_a_chunk(void **state)
{
	struct arena a;
	arena_init(&a);
	char *small = arena_string(&a, "small", 5);
	char *large = arena_alloc(&a, 5u << 20, 64);
	assert_non_null(large);
	memset(large, 1, 5u << 20);
	assert_string_equal(small, "small");
	arena_deinit(&a);
}

static void sizes_that_overflow_are_refused(void **state)
{
	struct arena a;
	arena_init(&a);
	assert_null(arena_alloc_array(&a, SIZE_MAX / 4, 8, 8));
	assert_null(arena_alloc(&a, SIZE_MAX, 16));
	assert_null(arena_alloc(&a, SIZE_MAX - 16, 16));
	assert_null(arena_string(&a, "", SIZE_MAX));
	assert_non_null(arena_alloc(&a, 0, 1));
	arena_deinit(&a);
}

static void vecs_grow_side_by_side(void **state)
{
	struct arena a;
	arena_init(&a);
	VEC(uint64_t) odd = {0}, even = {0};
	for (uint64_t i = 0; i < 2000; i++) {
		if (i % 2)
			assert_true(arena_vec_push(&a, &odd, i));
		else
			assert_true(arena_vec_push(&a, &even, i));
	}
	assert_int_equal(odd.len, 1000);
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(odd.items[i], 2 * i + 1);
		assert_int_equal(even.items[i], 2 * i);
	}
	const uint64_t *before = odd.items;
	assert_false(arena_vec_reserve(&a, &odd, SIZE_MAX / 4));
	assert_ptr_equal(odd.items, before);
	assert_int_equal(odd.len, 1000);
	arena_deinit(&a);
}

static void text_and_copies(void **state)
{
	struct arena a;
	arena_init(&a);
	assert_string_equal(arena_string(&a, "abcdef", 3), "abc");
	assert_string_equal(arena_printf(&a, "%s-%d", "x", 42), "x-42");
	int numbers[] = {1, 2, 3};
	int *copy = arena_copy(&a, numbers, sizeof(numbers));
	assert_memory_equal(copy, numbers, sizeof(numbers));
	uint64_t *array = arena_array(&a, uint64_t, 3);
	assert_int_equal(array[2], 0);
	arena_deinit(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_zeroed_aligned_and_apart),
		cmocka_unit_test(a_block_larger_than_a_chunk),
		cmocka_unit_test(sizes_that_overflow_are_refused),
		cmocka_unit_test(vecs_grow_side_by_side),
		cmocka_unit_test(text_and_copies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
