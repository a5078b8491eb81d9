#include "unit_test.h"

#include "base/thread_pool.h"

#include <stdatomic.h>

#define ITEMS 10000

struct work {
	unsigned char times[ITEMS]; /* each index has its own slot */
	atomic_uint highest_worker;
};

static void do_item(void *context, size_t index, unsigned worker)
{
	struct work *work = context;
	work->times[index]++;
	unsigned highest = atomic_load(&work->highest_worker);
	while (worker > highest && !atomic_compare_exchange_weak(&work->highest_worker, &highest, worker))
		;
}

static void every_index_once_for_any_number_of_workers(void **state)
{
	static const unsigned workers[] = {0, 1, 2, 3, 8, 64, 1000};
	static const size_t counts[] = {0, 1, 2, 7, ITEMS};
	for (size_t w = 0; w < sizeof(workers) / sizeof(workers[0]); w++) {
		for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
			struct work work = {0};
			thread_pool_for(counts[c], workers[w], do_item, &work);
			for (size_t i = 0; i < ITEMS; i++)
				assert_int_equal(work.times[i], i < counts[c]);
			if (counts[c] > 0)
				assert_true(work.highest_worker < thread_pool_workers(counts[c], workers[w]));
		}
	}
}

static void workers_are_no_more_than_items(void **state)
{
	assert_int_equal(thread_pool_workers(3, 8), 3);
	assert_int_equal(thread_pool_workers(100, 8), 8);
	assert_int_equal(thread_pool_workers(0, 8), 0);
	assert_true(thread_pool_workers(SIZE_MAX, 0) >= 1);
	assert_true(thread_pool_workers(SIZE_MAX, 100000) <= 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_index_once_for_any_number_of_workers),
		cmocka_unit_test(workers_are_no_more_than_items),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
