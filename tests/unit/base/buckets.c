/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buckets.h"

#include "unit_test.h"

static void equal_ones_come_together_in_their_order(void **state)
{
	static const uint32_t bucket_of[] = {3, 0, BUCKET_NONE, 3, 1, 0, 3};
	static const uint32_t expected[] = {1, 5, 4, 0, 3, 6}, begins[] = {0, 2, 3, 3, 6};
	uint32_t begin[4 + 2] = {0}, order[7];
	buckets_fill(bucket_of, 7, 4, begin, order);
	assert_memory_equal(begin, begins, sizeof(begins));
	assert_memory_equal(order, expected, sizeof(expected));
}

static void nothing_fills_nothing(void **state)
{
	static const uint32_t left_out[] = {BUCKET_NONE, BUCKET_NONE};
	uint32_t begin[2] = {0}, order[2];
	buckets_fill(NULL, 0, 0, begin, NULL);
	assert_int_equal(begin[0], 0);
	buckets_fill(left_out, 2, 0, begin, order);
	assert_int_equal(begin[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_ones_come_together_in_their_order),
		cmocka_unit_test(nothing_fills_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
