/* SPDX-License-Identifier: Apache-2.0 */
#include "base/side_thread.h"

#include <sched.h>
#include <stdatomic.h>

#include "base/thread_pool.h"
#include "unit_test.h"

#define ITEMS 100

struct seen {
	atomic_int done;
	atomic_bool may_go_on;
	int last; /* Last item seen. */
	bool is_in_order;
};

static void work(void *context, void *item)
{
	struct seen *seen = context;
	int number = *(int *)item;
	while (!atomic_load(&seen->may_go_on))
		sched_yield();
	seen->is_in_order = seen->is_in_order && number == seen->last + 1;
	seen->last = number;
	atomic_fetch_add(&seen->done, 1);
}

/* Returns the number of items added. */
static int add_all(struct side_thread *side, int *numbers)
{
	int added = 0;
	for (int i = 0; i < ITEMS; i++) {
		numbers[i] = i;
		added += side_thread_add(side, &numbers[i]);
	}
	return added;
}

static void does_all_in_order(void **state)
{
	static int numbers[ITEMS];
	struct seen seen = {.last = -1, .is_in_order = true};
	struct side_thread side;
	side_thread_init(&side, work, &seen);
	atomic_store(&seen.may_go_on, true);
	int added = add_all(&side, numbers);
	while (atomic_load(&seen.done) < added)
		sched_yield();
	side_thread_join(&side);
	assert_int_equal(added, thread_pool_workers(2, 0) > 1 ? ITEMS : 0);
	assert_true(seen.is_in_order);
	side_thread_deinit(&side);
}

static void what_is_not_begun_is_left(void **state)
{
	static int numbers[ITEMS];
	struct seen seen = {.last = -1, .is_in_order = true};
	struct side_thread side;
	side_thread_init(&side, work, &seen);
	int added = add_all(&side, numbers);
	side_thread_close(&side);
	assert_false(side_thread_add(&side, &numbers[0]));
	atomic_store(&seen.may_go_on, true);
	side_thread_join(&side);
	assert_true(atomic_load(&seen.done) <= (added ? 1 : 0));
	/* The thread can be used again. */
	seen.last = -1;
	atomic_store(&seen.done, 0);
	added = add_all(&side, numbers);
	while (atomic_load(&seen.done) < added)
		sched_yield();
	side_thread_join(&side);
	assert_true(seen.is_in_order);
	side_thread_deinit(&side);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(does_all_in_order),
		cmocka_unit_test(what_is_not_begun_is_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
