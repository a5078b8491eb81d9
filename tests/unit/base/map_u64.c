/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map_u64.h"

#include "base/array.h"
#include "unit_test.h"

/* Keys that share their low bits or differ by powers of two must not form one chain: this test would take minutes. */
static void keys_of_each_kind(void **state)
{
	static const unsigned shifts[] = {0, 4, 12, 32, 44};
	for (size_t s = 0; s < ARRAY_LEN(shifts); s++) {
		struct map_u64 m = {0};
		uint64_t value;
		assert_false(map_u64_find(&m, 0, &value));
		for (uint64_t i = 0; i < 100000; i++)
			assert_true(map_u64_set(&m, i << shifts[s], i + 1));
		assert_int_equal(m.len, 100000);
		for (uint64_t i = 0; i < 100000; i++) {
			assert_true(map_u64_find(&m, i << shifts[s], &value));
			assert_int_equal(value, i + 1);
		}
		assert_false(map_u64_find(&m, UINT64_MAX, &value));
		map_u64_deinit(&m);
		assert_int_equal(m.len, 0);
	}
}

static void at_adds_once_and_next_visits_all(void **state)
{
	struct map_u64 m = {0};
	static const uint64_t keys[] = {0, UINT64_MAX, 1, 1, 0, UINT64_MAX};
	for (size_t i = 0; i < 6; i++) {
		bool was_new;
		uint64_t *value = map_u64_at(&m, keys[i], &was_new);
		assert_non_null(value);
		assert_int_equal(was_new, i < 3);
		*value += 10;
	}
	assert_int_equal(*map_u64_at(&m, 1, NULL), 20);
	size_t position = 0;
	uint64_t key, value, sum = 0;
	size_t count = 0;
	while (map_u64_next(&m, &position, &key, &value)) {
		count++;
		sum += value;
	}
	assert_int_equal(count, 3);
	assert_int_equal(sum, 60);
	map_u64_deinit(&m);
}

static void reserve_keeps_slots_in_place(void **state)
{
	struct map_u64 m = {0};
	assert_true(map_u64_reserve(&m, 1000));
	uint64_t *first = map_u64_at(&m, 5, NULL);
	for (uint64_t i = 0; i < 999; i++)
		assert_true(map_u64_set(&m, 100 + i, i));
	assert_ptr_equal(map_u64_at(&m, 5, NULL), first);
	assert_false(map_u64_reserve(&m, SIZE_MAX));
	assert_int_equal(m.len, 1000);
	map_u64_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_of_each_kind),
		cmocka_unit_test(at_adds_once_and_next_visits_all),
		cmocka_unit_test(reserve_keeps_slots_in_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
