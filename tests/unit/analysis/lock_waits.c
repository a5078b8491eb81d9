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
	assert_true(lock_waits_end(&w, 1, 0xa, 130));
	assert_true(lock_waits_end(&w, 2, 0xa, 210));
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
	assert_true(lock_waits_end(&w, 1, 0xa, 200));
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
	assert_true(lock_waits_end(&w, 1, 0xa, 50));
	begin(&w, 1, 0xa, 100, 0);
	begin(&w, 2, 0xa, 100, 0);
	assert_true(lock_waits_end(&w, 1, 0xb, 120));
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
	assert_true(lock_waits_end(&w, 1, 0xa, 5));
	assert_int_equal(w.rows.items[0].total_ns, 0);
	assert_int_equal(w.rows.items[0].contended, 1);
	lock_waits_deinit(&w);
}

static void lockdep_acquires_without_waiting(void **state)
{
	struct lock_waits w;
	lock_waits_init(&w);
	struct lock_wait taken = {.tid = 1, .address = 0xa, .time_ns = 10, .row = row_of(&w, 0xa)};
	assert_true(lock_waits_acquire(&w, &taken));
	begin(&w, 1, 0xa, 20, 0);
	taken.time_ns = 50;
	assert_true(lock_waits_acquire(&w, &taken));
	assert_int_equal(w.rows.items[0].acquired, 2);
	assert_int_equal(w.rows.items[0].contended, 1);
	assert_int_equal(w.rows.items[0].total_ns, 30);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_add_up),
		cmocka_unit_test(a_mutex_that_gives_up_spinning_waits_once),
		cmocka_unit_test(halves_are_counted),
		cmocka_unit_test(clocks_that_go_back_wait_for_nothing),
		cmocka_unit_test(lockdep_acquires_without_waiting),
		cmocka_unit_test(types_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
