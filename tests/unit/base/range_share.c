/* SPDX-License-Identifier: Apache-2.0 */
#include "base/range_share.h"

#include <stdatomic.h>

#include "base/array.h"
#include "base/thread_pool.h"
#include "unit_test.h"

#define THINGS 1000
#define MOST   16

struct work {
	struct range_share share;
	atomic_uint times[THINGS];
	atomic_size_t done[MOST]; /* Number of finished items, by range. */
	bool is_first_slow;
};

static void do_range(struct work *work, size_t range)
{
	size_t thing, last = 0;
	while (range_share_next(&work->share, range, &thing)) {
		assert_true(work->done[range] == 0 || thing == last + 1);
		last = thing;
		work->times[thing]++;
		work->done[range]++;
		for (volatile unsigned i = 0; work->is_first_slow && range == 0 && i < 20000; i++)
			;
	}
}

static void work_on(void *context, size_t index, unsigned worker)
{
	size_t range = index;
	do
		do_range(context, range);
	while (range_share_split(&((struct work *)context)->share, &range));
}

static void check(struct work *work, size_t things)
{
	size_t order[MOST], next = 0;
	for (size_t i = 0; i < THINGS; i++)
		assert_int_equal(work->times[i], i < things);
	assert_in_range(work->share.count, 1, work->share.most);
	range_share_order(&work->share, order);
	for (size_t i = 0; i < work->share.count; i++) {
		const struct shared_range *range = &work->share.ranges[order[i]];
		assert_int_equal(range->first, next);
		assert_int_equal(work->done[order[i]], range->end - range->first);
		next = range->end;
	}
	assert_int_equal(next, things);
}

static void each_thing_is_in_one_range(void **state)
{
	for (unsigned workers = 1; workers <= MOST / 2; workers++) {
		static const size_t things[] = {0, 1, 7, THINGS};
		for (size_t i = 0; i < ARRAY_LEN(things); i++) {
			struct work work = {.is_first_slow = true};
			assert_true(range_share_init(&work.share, things[i], workers, 2));
			assert_in_range(work.share.most, 1, MOST);
			thread_pool_for(work.share.count, workers, work_on, &work);
			check(&work, things[i]);
			range_share_deinit(&work.share);
		}
	}
}

/* Without threads, so that the progress of each worker is known. */
static void the_later_half_of_the_longest_is_taken(void **state)
{
	struct range_share share;
	size_t range, thing, order[6];
	assert_true(range_share_init(&share, 300, 3, 10));
	assert_false(range_share_split(&share, &range)); /* No worker has begun. */
	assert_true(range_share_next(&share, 1, &thing));
	assert_int_equal(thing, 100);
	assert_true(range_share_split(&share, &range));
	assert_int_equal(range, 3);
	assert_true(range_share_next(&share, range, &thing));
	assert_int_equal(thing, 151);
	for (size_t i = 101; i < 151; i++) {
		assert_true(range_share_next(&share, 1, &thing));
		assert_int_equal(thing, i);
	}
	assert_false(range_share_next(&share, 1, &thing));
	assert_true(range_share_split(&share, &range));
	assert_int_equal(share.ranges[range].first, 176);
	range_share_order(&share, order);
	assert_memory_equal(order, ((size_t[]){0, 1, 3, 4, 2}), 5 * sizeof(size_t));
	range_share_deinit(&share);
}

static void little_is_left_alone(void **state)
{
	struct range_share share;
	size_t range, thing;
	assert_true(range_share_init(&share, 20, 2, 5));
	assert_true(range_share_next(&share, 0, &thing));
	assert_false(range_share_split(&share, &range));
	range_share_deinit(&share);
	assert_true(range_share_init(&share, 20, 1, 1));
	assert_true(range_share_next(&share, 0, &thing));
	assert_false(range_share_split(&share, &range)); /* The rest belongs to a single worker. */
	range_share_deinit(&share);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_thing_is_in_one_range),
		cmocka_unit_test(the_later_half_of_the_longest_is_taken),
		cmocka_unit_test(little_is_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
