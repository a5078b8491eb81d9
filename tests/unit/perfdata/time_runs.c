/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/time_runs.h"

#include "unit_test.h"

/* Adds items of those times; their offsets are their numbers. */
static void add(struct time_runs *runs, uint64_t first_offset, size_t count, const uint64_t *times)
{
	struct time_waiting items[8];
	for (size_t i = 0; i < count; i++)
		items[i] = (struct time_waiting){times[i], NULL, first_offset + i};
	assert_true(time_runs_add(runs, items, count));
}

static void take(struct time_runs *runs, uint64_t time_ns, uint64_t offset)
{
	assert_non_null(time_runs_first(runs));
	assert_int_equal(time_runs_first(runs)->time_ns, time_ns);
	struct time_waiting taken = time_runs_take(runs);
	assert_int_equal(taken.time_ns, time_ns);
	assert_int_equal(taken.offset, offset);
}

static void test_the_oldest_of_all_comes_first(void **state)
{
	struct time_runs runs;
	time_runs_init(&runs);
	assert_null(time_runs_first(&runs));
	add(&runs, 0, 3, (uint64_t[]){10, 20, 30});
	add(&runs, 3, 2, (uint64_t[]){5, 20});
	assert_int_equal(runs.runs.len, 2);
	take(&runs, 5, 3);
	take(&runs, 10, 0);
	add(&runs, 5, 2, (uint64_t[]){7, 20});
	take(&runs, 7, 5);
	/* Of equal times, the item that was added first comes first. */
	take(&runs, 20, 1);
	take(&runs, 20, 4);
	take(&runs, 20, 6);
	assert_int_equal(runs.count, 1);
	take(&runs, 30, 2);
	assert_int_equal(runs.count, 0);
	assert_null(time_runs_first(&runs));
	time_runs_deinit(&runs);
}

static void test_what_is_in_order_is_one_run(void **state)
{
	struct time_runs runs;
	time_runs_init(&runs);
	add(&runs, 0, 2, (uint64_t[]){1, 2});
	add(&runs, 2, 2, (uint64_t[]){2, 4});
	assert_int_equal(runs.runs.len, 1);
	add(&runs, 4, 1, (uint64_t[]){3});
	assert_int_equal(runs.runs.len, 2);
	add(&runs, 5, 1, (uint64_t[]){9});
	assert_int_equal(runs.runs.len, 2);
	take(&runs, 1, 0);
	take(&runs, 2, 1);
	take(&runs, 2, 2);
	take(&runs, 3, 4);
	take(&runs, 4, 3);
	take(&runs, 9, 5);
	time_runs_deinit(&runs);
}

/* Enough items for the spool to use a file, in several runs; then again from the start. */
static void test_many(void **state)
{
	enum { RUNS = 9, EACH = 40000 };
	struct time_runs runs;
	struct time_waiting *items = calloc(EACH, sizeof(*items));
	time_runs_init(&runs);
	for (int turn = 0; turn < 2; turn++) {
		for (uint64_t run = 0; run < RUNS; run++) {
			for (uint64_t i = 0; i < EACH; i++)
				items[i] = (struct time_waiting){i * RUNS + RUNS - run, NULL, run};
			assert_true(time_runs_add(&runs, items, EACH));
		}
		for (uint64_t i = 0; i < RUNS * EACH; i++)
			take(&runs, i + 1, RUNS - 1 - i % RUNS);
		assert_null(time_runs_first(&runs));
		assert_int_equal(runs.items.len, 0);
	}
	time_runs_deinit(&runs);
	free(items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_oldest_of_all_comes_first),
		cmocka_unit_test(test_what_is_in_order_is_one_run),
		cmocka_unit_test(test_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
