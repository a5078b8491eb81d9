/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

#include "unit_test.h"

static void items_survive_growth(void **state)
{
	VEC(uint64_t) v = {0};
	for (uint64_t i = 0; i < 10000; i++)
		assert_true(vec_push(&v, i * i));
	assert_int_equal(v.len, 10000);
	for (uint64_t i = 0; i < v.len; i++)
		assert_int_equal(v.items[i], i * i);
	size_t cap = v.cap;
	assert_true(vec_reserve(&v, cap));
	assert_int_equal(v.cap, cap);
	vec_free(&v);
	assert_null(v.items);
	assert_int_equal(v.cap, 0);
}

static void sizes_that_overflow_are_refused(void **state)
{
	VEC(uint64_t) v = {0};
	assert_true(vec_push(&v, 5));
	assert_false(vec_reserve(&v, SIZE_MAX));
	assert_false(vec_reserve(&v, SIZE_MAX / 8));
	assert_int_equal(v.items[0], 5);
	vec_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_survive_growth),
		cmocka_unit_test(sizes_that_overflow_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
