/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread_pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "unit_test.h"

#define ITEMS 10000

struct work {
	unsigned char times[ITEMS]; /* Each index has its own element. */
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
	for (size_t w = 0; w < ARRAY_LEN(workers); w++) {
		for (size_t c = 0; c < ARRAY_LEN(counts); c++) {
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

#define CALLERS	 4
#define SECTIONS 2000

static void add_one(void *context, size_t index, unsigned worker)
{
	atomic_fetch_add((atomic_uint *)context, 1);
}

static void add_many(void *context, size_t index, unsigned worker)
{
	thread_pool_for(10, 3, add_one, context);
}

static void *call_often(void *context)
{
	for (int i = 0; i < SECTIONS; i++)
		thread_pool_for(3, 3, add_many, context);
	return NULL;
}

static void work_may_have_work_done_and_so_may_any_thread(void **state)
{
	pthread_t threads[CALLERS];
	atomic_uint count = 0;
	for (size_t i = 0; i < CALLERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call_often, &count), 0);
	for (size_t i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(count, CALLERS * SECTIONS * 3 * 10);
}

static void a_forked_child_has_helpers_of_its_own(void **state)
{
	atomic_uint count = 0;
	thread_pool_for(100, 4, add_one, &count);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < SECTIONS; i++)
			thread_pool_for(10, 4, add_one, &count);
		_exit(count == 100 + SECTIONS * 10 ? 0 : 1);
	}
	int status = -1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(count, 100);
}

static void note_mask(void *context, size_t index, unsigned worker)
{
	sigset_t mask;
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
	bool *is_taken = context;
	if (worker > 0 && (!sigismember(&mask, SIGINT) || sigismember(&mask, SIGBUS)))
		*is_taken = true;
}

static void helpers_take_no_signals_but_their_own(void **state)
{
	bool is_taken = false;
	for (int i = 0; i < 100; i++)
		thread_pool_for(100, 2, note_mask, &is_taken);
	assert_false(is_taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_index_once_for_any_number_of_workers),
		cmocka_unit_test(workers_are_no_more_than_items),
		cmocka_unit_test(work_may_have_work_done_and_so_may_any_thread),
		cmocka_unit_test(a_forked_child_has_helpers_of_its_own),
		cmocka_unit_test(helpers_take_no_signals_but_their_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
