/* SPDX-License-Identifier: Apache-2.0 */
#include "base/list_table.h"

#include "unit_test.h"

static void lists_are_held_once(void **state)
{
	struct list_table t = {0};
	static const uint32_t items[] = {7, 8, 9, 7, 8};
	assert_int_equal(list_table_add(&t, items, 2), 0);
	assert_int_equal(list_table_add(&t, items, 3), 1);
	assert_int_equal(list_table_add(&t, items, 1), 2);
	assert_int_equal(list_table_add(&t, items + 3, 2), 0);
	assert_int_equal(list_table_add(&t, NULL, 0), 3);
	assert_int_equal(list_table_add(&t, items, 0), 3);
	assert_int_equal(list_table_len(&t), 4);
	struct list l = list_table_get(&t, 1);
	assert_int_equal(l.count, 3);
	assert_memory_equal(l.items, items, sizeof(*items) * 3);
	assert_int_equal(list_table_get(&t, 3).count, 0);
	list_table_deinit(&t);
	assert_int_equal(list_table_len(&t), 0);
}

static void make(uint32_t i, uint32_t *items, size_t *count)
{
	*count = 1 + i % 5;
	for (size_t k = 0; k < *count; k++)
		items[k] = i / (uint32_t)(k + 1);
}

/* Each list contains i, so all lists differ. */
static void many_lists_find_their_ids(void **state)
{
	struct list_table t = {0};
	uint32_t items[5];
	size_t count;
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 20000; i++) {
			make(i, items, &count);
			uint32_t hash = list_table_hash(items, count);
			list_table_expect(&t, hash);
			list_table_guess(&t, hash);
			assert_int_equal(list_table_add_hashed(&t, items, count, hash), i);
		}
	}
	for (uint32_t i = 0; i < 20000; i++) {
		make(i, items, &count);
		struct list l = list_table_get(&t, i);
		assert_int_equal(l.count, count);
		assert_memory_equal(l.items, items, count * sizeof(*items));
	}
	list_table_deinit(&t);
}

static void lists_stay_when_lookups_end(void **state)
{
	struct list_table t = {0};
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(list_table_add(&t, (uint32_t[]){i, i + 1}, 2), i);
	list_table_end_lookups(&t);
	assert_int_equal(list_table_len(&t), 100);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(list_table_get(&t, i).count, 2);
		assert_int_equal(list_table_get(&t, i).items[1], i + 1);
	}
	list_table_deinit(&t);
}

/* Lists with equal hashes may differ. */
static void hashes_may_be_equal(void **state)
{
	struct list_table t = {0};
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(list_table_add_hashed(&t, &i, 1, 5), i);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(list_table_add_hashed(&t, &i, 1, 5), i);
	list_table_deinit(&t);
}

static void room_for_many_is_made_at_once(void **state)
{
	struct list_table table = {0};
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(list_table_add(&table, (const uint32_t[]){i, 7}, 2), i);
	assert_true(list_table_reserve(&table, 5000));
	const uint64_t *slots = table.slots;
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(list_table_add(&table, (const uint32_t[]){i, 7}, 2), i);
	assert_ptr_equal(table.slots, slots);
	assert_true(list_table_reserve(&table, 10));
	assert_ptr_equal(table.slots, slots);
	list_table_deinit(&table);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(room_for_many_is_made_at_once),
		cmocka_unit_test(lists_are_held_once),
		cmocka_unit_test(many_lists_find_their_ids),
		cmocka_unit_test(hashes_may_be_equal),
		cmocka_unit_test(lists_stay_when_lookups_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
