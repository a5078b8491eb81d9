/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flat/flat_tree.h"

#include <stdlib.h>

#include "base/array.h"
#include "unit_test.h"

#define MANY 5000

static void check(const struct flat_tree_row *rows, size_t count, bool is_deepest_first, const uint32_t *wanted)
{
	uint32_t order[16];
	assert_true(flat_tree_order(rows, count, is_deepest_first, order));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(order[i], wanted[i]);
}

static void test_depth_decides_in_a_thread(void **state)
{
	static const struct flat_tree_row rows[] = {
		{.tie = 1, .thread = 7, .depth = 1, .rank = 0, .row = 10},
		{.tie = 1, .thread = 7, .depth = 3, .rank = 1, .row = 11},
		{.tie = 1, .thread = 7, .depth = 3, .rank = 2, .row = 12},
		{.tie = 0, .thread = 7, .depth = 1, .rank = 3, .row = 13},
	};
	(void)state;
	check(rows, 3, true, (const uint32_t[]){11, 12, 10});
	check(rows, 3, false, (const uint32_t[]){10, 11, 12});
	check(rows, 4, true, (const uint32_t[]){11, 12, 10, 13}); /* another tie: its rank */
	check(rows, 0, true, NULL);
}

/* As both perfs show them (tests/e2e/test_report_agreement.py has the recording). */
static void test_each_of_three_may_come_before_the_next(void **state)
{
	static const struct flat_tree_row rows[] = {
		{.tie = 2, .thread = 1, .depth = 1, .rank = 0, .row = 0},
		{.tie = 2, .thread = 1, .depth = 2, .rank = 1, .row = 2},
		{.tie = 2, .thread = 1, .depth = 2, .rank = 3, .row = 4},
		{.tie = 2, .thread = 2, .depth = 1, .rank = 2, .row = 1},
		{.tie = 1, .thread = 2, .depth = 1, .rank = 4, .row = 3},
	};
	(void)state;
	check(rows, 5, true, (const uint32_t[]){2, 1, 4, 0, 3});
}

static void test_many_in_order(void **state)
{
	static const uint32_t steps[] = {1, 3, 7, 1233, 1667, MANY - 1}; /* rising, all over the place, falling */
	(void)state;
	struct flat_tree_row *rows = calloc(MANY, sizeof(*rows));
	uint32_t *order = calloc(MANY, sizeof(*order));
	assert_non_null(rows);
	assert_non_null(order);
	for (size_t s = 0; s < ARRAY_LEN(steps); s++) {
		for (uint32_t i = 0, rank = 0; i < MANY; i++, rank = (rank + steps[s]) % MANY)
			rows[i] = (struct flat_tree_row){.tie = rank / 3, .thread = i, .rank = rank, .row = rank};
		assert_true(flat_tree_order(rows, MANY, true, order));
		for (uint32_t i = 0; i < MANY; i++)
			assert_int_equal(order[i], i);
	}
	free(rows);
	free(order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_depth_decides_in_a_thread),
		cmocka_unit_test(test_each_of_three_may_come_before_the_next),
		cmocka_unit_test(test_many_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
