/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/lock_waits.h"

#include "unit_test.h"

static uint32_t row_of(struct lock_waits *w, uint64_t key)
{
	uint32_t row;
	bool is_new;
	assert_true(lock_waits_row(w, (const uint64_t[LOCK_ROW_WORDS]){key, 0}, &row, &is_new));
	return row;
}

static void begin(struct lock_waits *w, int32_t tid, uint64_t address, uint64_t time, uint32_t flags)
{
	struct lock_wait wait = {
		.tid = tid, .address = address, .time_ns = time, .row = row_of(w, address), .flags = flags};
	assert_true(lock_waits_begin(w, &wait));
}

static void waits_add_up(void **state)
{
	struct lock_waits w;
	lock_waits_init(&w);
	begin(&w, 1, 0xa, 100, LOCK_FLAG_SPIN);
	begin(&w, 2, 0xa, 110, LOCK_FLAG_SPIN);
	lock_waits_end(&w, 1, 0xa, 130);
	lock_waits_end(&w, 2, 0xa, 210);
	lock_waits_finish(&w);
	const struct lock_row *row = &w.rows.items[row_of(&w, 0xa)];
	assert_int_equal(row->contended, 2);
	assert_int_equal(row->acquired, 2);
	assert_int_equal(row->total_ns, 130);
	assert_int_equal(row->max_ns, 100);
	assert_int_equal(row->min_ns, 30);
	assert_int_equal(row->flags, LOCK_FLAG_SPIN);
	assert_int_equal(w.unended + w.unbegun, 0);
	lock_waits_deinit(&w);
}

static void a_mutex_that_gives_up_spinning_waits_once(void **state)
{
	struct lock_waits w;
	lock_waits_init(&w);
	begin(&w, 1, 0xa, 100, LOCK_FLAG_MUTEX | LOCK_FLAG_SPIN);
	begin(&w, 1, 0xa, 150, LOCK_FLAG_MUTEX);
	lock_waits_end(&w, 1, 0xa, 200);
	lock_waits_finish(&w);
	assert_int_equal(w.rows.items[0].contended, 1);
	assert_int_equal(w.rows.items[0].total_ns, 100);
	assert_int_equal(w.unended + w.unbegun, 0);
	lock_waits_deinit(&w);
}

static void halves_are_counted(void **state)
{
	struct lock_waits w;
	lock_waits_init(&w);
	lock_waits_end(&w, 1, 0xa, 50);
	begin(&w, 1, 0xa, 100, 0);
	begin(&w, 2, 0xa, 100, 0);
	lock_waits_end(&w, 1, 0xb, 120);
	lock_waits_finish(&w);
	assert_int_equal(w.unbegun, 2);
	assert_int_equal(w.unended, 2);
	assert_int_equal(w.rows.items[0].contended, 0);
	lock_waits_deinit(&w);
}

static void clocks_that_go_back_wait_for_nothing(void **state)
{
	struct lock_waits w;
	lock_waits_init(&w);
	begin(&w, 1, 0xa, UINT64_MAX, 0);
	lock_waits_end(&w, 1, 0xa, 5);
	assert_int_equal(w.rows.items[0].total_ns, 0);
	assert_int_equal(w.rows.items[0].contended, 1);
	lock_waits_deinit(&w);
}

static void lockdep_acquires_without_waiting(void **state)
{
	struct lock_waits w;
	lock_waits_init(&w);
	struct lock_wait taken = {.tid = 1, .address = 0xa, .time_ns = 10, .row = row_of(&w, 0xa)};
	lock_waits_acquire(&w, &taken);
	begin(&w, 1, 0xa, 20, 0);
	taken.time_ns = 50;
	lock_waits_acquire(&w, &taken);
	assert_int_equal(w.rows.items[0].acquired, 2);
	assert_int_equal(w.rows.items[0].contended, 1);
	assert_int_equal(w.rows.items[0].total_ns, 30);
	lock_waits_deinit(&w);
}

static void rows_have_a_bound(void **state)
{
	struct lock_waits w;
	lock_waits_init(&w);
	w.row_limit = 2;
	for (uint64_t lock = 1; lock <= 4; lock++)
		begin(&w, 1, lock, 100, LOCK_FLAG_SPIN);
	assert_true(lock_waits_is_full(&w));
	for (uint64_t lock = 1; lock <= 4; lock++)
		lock_waits_end(&w, 1, lock, 100 + lock);
	begin(&w, 1, 2, 200, 0); /* The existing row is used. */
	lock_waits_end(&w, 1, 2, 210);
	lock_waits_finish(&w);
	assert_int_equal(w.rows.len, 2);
	assert_int_equal(w.rows.items[0].total_ns, 1);
	assert_int_equal(w.rows.items[1].contended, 2);
	assert_int_equal(w.rows.items[1].total_ns, 12);
	assert_int_equal(w.others.contended, 2);
	assert_int_equal(w.others.total_ns, 7);
	assert_int_equal(w.others.max_ns, 4);
	assert_int_equal(w.unended + w.unbegun, 0);
	lock_waits_deinit(&w);
}

static void memory_is_that_of_waits_that_last(void **state)
{
	struct lock_waits w;
	lock_waits_init(&w);
	struct lock_wait wait = {.tid = 1, .address = 7, .time_ns = 1, .row = row_of(&w, 0)};
	assert_true(lock_waits_begin(&w, &wait));
	wait.tid = 2;
	for (uint64_t i = 0; i < 100000; i++) {
		wait.address = 1000 + i;
		assert_true(lock_waits_begin(&w, &wait));
		lock_waits_end(&w, 2, 1000 + i, 2);
	}
	assert_true(w.waits.len < 2000 && w.waiting.len == w.waits.len);
	lock_waits_end(&w, 1, 7, 1000);
	assert_int_equal(w.rows.items[0].contended, 100001);
	assert_int_equal(w.rows.items[0].total_ns, 100000 + 999);
	lock_waits_deinit(&w);
}

static void threads_that_end_wait_no_longer(void **state)
{
	struct lock_waits w;
	lock_waits_init(&w);
	begin(&w, 1, 0xa, 100, 0);
	begin(&w, 1, 0xb, 110, 0);
	begin(&w, 2, 0xa, 120, 0);
	lock_waits_end_thread(&w, 1);
	assert_int_equal(w.unended, 2);
	lock_waits_end(&w, 1, 0xa, 5000); /* Another thread with the same TID. */
	lock_waits_end(&w, 2, 0xa, 130);
	lock_waits_finish(&w);
	assert_int_equal(w.unbegun, 1);
	assert_int_equal(w.unended, 2);
	assert_int_equal(w.rows.items[0].contended, 1);
	assert_int_equal(w.rows.items[0].total_ns, 10);
	lock_waits_deinit(&w);
}

static void waits_do_not_last_through_a_loss(void **state)
{
	struct lock_waits w;
	lock_waits_init(&w);
	begin(&w, 1, 0xa, 100, 0);
	begin(&w, 2, 0xb, 110, 0);
	lock_waits_give_up(&w);
	assert_int_equal(w.unended, 2);
	begin(&w, 1, 0xa, 9000, 0);
	lock_waits_end(&w, 1, 0xa, 9005);
	lock_waits_end(&w, 2, 0xb, 9010);
	lock_waits_finish(&w);
	assert_int_equal(w.rows.items[0].total_ns, 5);
	assert_int_equal(w.rows.items[1].contended, 0);
	assert_int_equal(w.unended, 2);
	assert_int_equal(w.unbegun, 1);
	lock_waits_deinit(&w);
}

static void types_are_named(void **state)
{
	assert_string_equal(lock_type_name(LOCK_FLAG_SPIN), "spinlock");
	assert_string_equal(lock_type_name(LOCK_FLAG_SPIN | LOCK_FLAG_READ), "rwlock:R");
	assert_string_equal(lock_type_name(LOCK_FLAG_WRITE), "rwsem:W");
	assert_string_equal(lock_type_name(LOCK_FLAG_MUTEX | LOCK_FLAG_SPIN), "mutex");
	assert_string_equal(lock_type_name(LOCK_FLAG_PERCPU | LOCK_FLAG_READ), "pcpu-sem:R");
	assert_string_equal(lock_type_name(LOCK_FLAG_RT), "rt-mutex");
	assert_string_equal(lock_type_name(0), "semaphore");
}

static void sums_from_elsewhere_are_added(void **state)
{
	(void)state;
	struct lock_waits w;
	const uint64_t key[LOCK_ROW_WORDS] = {7, 0};
	const struct lock_row first = {2, 2, 30, 20, 10, LOCK_FLAG_MUTEX}, second = {1, 1, 5, 5, 5, LOCK_FLAG_SPIN};
	uint32_t row;
	bool is_new;
	lock_waits_init(&w);
	w.row_limit = 1;
	assert_true(lock_waits_row(&w, key, &row, &is_new));
	lock_waits_add(&w, row, &first);
	lock_waits_add(&w, row, &second);
	const struct lock_row *sum = &w.rows.items[row];
	assert_int_equal(sum->contended, 3);
	assert_int_equal(sum->acquired, 3);
	assert_int_equal(sum->total_ns, 35);
	assert_int_equal(sum->max_ns, 20);
	assert_int_equal(sum->min_ns, 5);
	assert_int_equal(sum->flags, LOCK_FLAG_MUTEX);
	lock_waits_add(&w, LOCK_ROW_OTHERS, &second);
	assert_int_equal(w.others.acquired, 1);
	assert_int_equal(w.others.total_ns, 5);
	lock_waits_deinit(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_add_up),
		cmocka_unit_test(a_mutex_that_gives_up_spinning_waits_once),
		cmocka_unit_test(halves_are_counted),
		cmocka_unit_test(clocks_that_go_back_wait_for_nothing),
		cmocka_unit_test(lockdep_acquires_without_waiting),
		cmocka_unit_test(rows_have_a_bound),
		cmocka_unit_test(memory_is_that_of_waits_that_last),
		cmocka_unit_test(threads_that_end_wait_no_longer),
		cmocka_unit_test(waits_do_not_last_through_a_loss),
		cmocka_unit_test(types_are_named),
		cmocka_unit_test(sums_from_elsewhere_are_added),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
