/* SPDX-License-Identifier: Apache-2.0 */
#include "base/id_table.h"

#include "unit_test.h"

static void keys_get_dense_ids_once(void **state)
{
	struct id_table t = {.words = 2};
	for (uint64_t i = 0; i < 20000; i++) {
		bool was_new;
		assert_int_equal(id_table_add(&t, (uint64_t[]){i << 32, ~i}, &was_new), i);
		assert_true(was_new);
	}
	for (uint64_t i = 0; i < 20000; i++) {
		bool was_new;
		assert_int_equal(id_table_add(&t, (uint64_t[]){i << 32, ~i}, &was_new), i);
		assert_false(was_new);
		assert_int_equal(id_table_find(&t, (uint64_t[]){i << 32, ~i}), i);
		assert_int_equal(t.keys[2 * i + 1], ~i);
	}
	assert_int_equal(id_table_find(&t, (uint64_t[]){1, 1}), ID_TABLE_NONE);
	id_table_deinit(&t);
}

static void empty_table_finds_nothing(void **state)
{
	struct id_table t = {.words = 1};
	assert_int_equal(id_table_find(&t, (uint64_t[]){0}), ID_TABLE_NONE);
	assert_int_equal(id_table_add(&t, (uint64_t[]){0}, NULL), 0);
	assert_int_equal(id_table_find(&t, (uint64_t[]){0}), 0);
	id_table_deinit(&t);
	assert_int_equal(t.len, 0);
	assert_int_equal(t.words, 1);
}

static void many_keys_get_the_ids_of_each(void **state)
{
	struct id_table t = {.words = 2};
	uint64_t keys[2 * 1000];
	uint32_t ids[1000];
	for (uint64_t i = 0; i < 1000; i++) {
		keys[2 * i] = i % 300;
		keys[2 * i + 1] = i % 2;
	}
	assert_true(id_table_add_many(&t, keys, 1000, ids));
	assert_int_equal(t.len, 300);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(ids[i], i % 300);
		assert_int_equal(id_table_find(&t, keys + 2 * i), ids[i]);
	}
	assert_true(id_table_add_many(&t, NULL, 0, NULL));
	id_table_deinit(&t);
}

static void appended_keys_have_ids_but_are_not_found(void **state)
{
	struct id_table t = {.words = 1};
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(id_table_append(&t, &i), 2 * i);
		uint64_t other = i + 5000;
		assert_int_equal(id_table_add(&t, &other, NULL), 2 * i + 1);
	}
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(*id_table_key(&t, (uint32_t)(2 * i)), i);
		assert_int_equal(id_table_find(&t, &i), ID_TABLE_NONE);
		assert_int_equal(id_table_find(&t, &(uint64_t){i + 5000}), 2 * i + 1);
	}
	uint64_t *many = id_table_append_many(&t, 100);
	assert_non_null(many);
	for (uint64_t k = 0; k < 100; k++)
		many[k] = k + 9000;
	assert_int_equal(*id_table_key(&t, 2000 + 99), 9099);
	assert_int_equal(id_table_find(&t, &(uint64_t){9099}), ID_TABLE_NONE);
	assert_int_equal(id_table_add(&t, &(uint64_t){9099}, NULL), 2100);
	id_table_deinit(&t);
}

static void keys_stay_when_lookups_end(void **state)
{
	struct id_table t = {.words = 1};
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(id_table_add(&t, &i, NULL), i);
	id_table_end_lookups(&t);
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(*id_table_key(&t, (uint32_t)i), i);
		assert_int_equal(id_table_find(&t, &i), ID_TABLE_NONE);
	}
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(id_table_add(&t, &(uint64_t){i / 2}, NULL), 1000 + i / 2);
	id_table_deinit(&t);
}

static void expected_keys_stay_where_they_are(void **state)
{
	struct id_table t = {.words = 2};
	assert_true(id_table_expect_keys(&t, 100));
	assert_int_equal(t.len, 0);
	const uint64_t *keys = t.keys;
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(id_table_add(&t, (const uint64_t[]){i, i}, NULL), i);
	assert_ptr_equal(t.keys, keys);
	assert_true(id_table_expect_keys(&t, 10));
	assert_ptr_equal(t.keys, keys);
	assert_false(id_table_expect_keys(&t, ID_TABLE_NONE));
	assert_int_equal(id_table_add(&t, (const uint64_t[]){100, 0}, NULL), 100);
	assert_int_equal(id_table_find(&t, (const uint64_t[]){99, 99}), 99);
	id_table_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expected_keys_stay_where_they_are),
		cmocka_unit_test(appended_keys_have_ids_but_are_not_found),
		cmocka_unit_test(keys_get_dense_ids_once),
		cmocka_unit_test(keys_stay_when_lookups_end),
		cmocka_unit_test(empty_table_finds_nothing),
		cmocka_unit_test(many_keys_get_the_ids_of_each),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
