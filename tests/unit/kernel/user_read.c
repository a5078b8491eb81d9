/* SPDX-License-Identifier: Apache-2.0 */
/* Tests reading of counters in user space, with the mapped page of an event made by hand, and the two instructions
 * (rdpmc and rdtsc) replaced. */
#include "kernel/counting/user_read.h"

#include <string.h>

#include "base/array.h"
#include "unit_test.h"

static struct perf_event_mmap_page page;
static uint64_t counter_now, clock_now;
static uint32_t counter_asked;
static size_t changes_left, counter_reads;

static uint64_t fake_counter(uint32_t number)
{
	counter_asked = number;
	counter_reads++;
	if (changes_left) { /* Simulates that the thread was scheduled between two instructions. */
		changes_left--;
		page.lock++;
		page.offset += 1000;
		page.time_enabled += 5;
	}
	return counter_now;
}

static uint64_t fake_clock(void)
{
	return clock_now;
}

static const struct user_registers registers = {.counter = fake_counter, .clock = fake_clock};

static int page_setup(void **state)
{
	(void)state;
	memset(&page, 0, sizeof(page));
	page.cap_bit0_is_deprecated = 1;
	page.cap_user_rdpmc = 1;
	page.cap_user_time = 1;
	page.index = 3;
	page.offset = 100;
	page.pmc_width = 48;
	page.time_mult = 1;
	page.time_enabled = 50;
	page.time_running = 20;
	counter_now = 7;
	clock_now = 0;
	counter_reads = 0;
	changes_left = 0;
	return 0;
}

static bool read_page(struct count *count)
{
	struct user_read read = {.registers = &registers};
	return user_page_read(&page, &read, count);
}

static void offset_and_register_make_the_value(void **state)
{
	(void)state;
	struct count count;
	assert_true(read_page(&count));
	assert_int_equal(counter_asked, 2);
	assert_int_equal(count.value, 107);
	assert_int_equal(count.enabled_ns, 50);
	assert_int_equal(count.running_ns, 20);
}

static void the_register_is_signed_at_its_width(void **state)
{
	(void)state;
	struct count count;
	static const struct {
		uint16_t width;
		uint64_t counter, value;
	} rows[] = {
		{48, (UINT64_C(1) << 48) - 40, 60}, /* The counter counts up to its overflow. */
		{48, UINT64_C(0xabcd) << 48 | 5, 105}, /* Bits above the width are not part of the counter. */
		{32, UINT32_MAX, 99},
		{64, UINT64_MAX - 1, 98},
		{64, 5, 105},
		{40, UINT64_C(1) << 39, (uint64_t)(100 - (INT64_C(1) << 39))},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		page.pmc_width = rows[i].width;
		counter_now = rows[i].counter;
		assert_true(read_page(&count));
		assert_int_equal(count.value, rows[i].value);
	}
}

static void a_page_that_changes_is_read_again(void **state)
{
	(void)state;
	struct count count;
	changes_left = 3;
	assert_true(read_page(&count));
	assert_int_equal(counter_reads, 4);
	assert_int_equal(count.value, 3107);
	assert_int_equal(count.enabled_ns, 65);
	assert_int_equal(changes_left, 0);
}

static void a_page_that_changes_without_end_is_given_up(void **state)
{
	(void)state;
	struct count count = {.value = 77};
	changes_left = SIZE_MAX;
	assert_false(read_page(&count));
	assert_int_equal(count.value, 77);
}

static void what_the_page_does_not_allow_is_left_to_the_system_call(void **state)
{
	(void)state;
	struct count count = {.value = 77};
	page.index = 0; /* The event is not on a counter now. */
	assert_false(read_page(&count));
	page_setup(NULL);
	page.cap_user_rdpmc = 0;
	assert_false(read_page(&count));
	page_setup(NULL);
	page.cap_user_time = 0;
	assert_false(read_page(&count));
	page_setup(NULL);
	page.pmc_width = 0;
	assert_false(read_page(&count));
	page.pmc_width = 65;
	assert_false(read_page(&count));
	assert_int_equal(counter_reads, 0);
	assert_int_equal(count.value, 77);
}

static void the_old_bits_are_not_believed(void **state)
{
	(void)state;
	struct count count;
	page.capabilities = 1; /* Linux 3.4 to 3.11 set this bit for "rdpmc or time". */
	assert_false(user_page_is_capable(&page));
	assert_false(read_page(&count));
	page.capabilities = 1 | 4; /* The third bit counts only with the marker bit. */
	assert_false(user_page_is_capable(&page));
	page.capabilities = 2 | 4;
	assert_true(user_page_is_capable(&page));
	assert_int_equal(counter_reads, 0);
}

static void times_go_on_by_the_clock(void **state)
{
	(void)state;
	struct count count;
	page.time_shift = 10;
	page.time_mult = 1 << 11; /* 2 ns per tick. */
	page.time_offset = 3;
	clock_now = (UINT64_C(5) << 10) + 512;
	assert_true(read_page(&count));
	uint64_t delta = 3 + 5 * (1 << 11) + 1024;
	assert_int_equal(count.enabled_ns, 50 + delta);
	assert_int_equal(count.running_ns, 20 + delta);
	page.time_offset = (uint64_t)-1000; /* Since a later moment. */
	clock_now = 512;
	assert_true(read_page(&count));
	assert_int_equal(count.enabled_ns, 50 + 24);
}

static void a_clock_that_wraps_is_unwrapped(void **state)
{
	(void)state;
	struct count count;
	page.cap_user_time_short = 1;
	page.time_mask = 0xff;
	page.time_cycles = 0x1f0;
	clock_now = 0x05; /* The cycles become 0x205. */
	assert_true(read_page(&count));
	assert_int_equal(count.enabled_ns, 50 + 0x205);
}

static void events_side_by_side_share_the_clock(void **state)
{
	(void)state;
	struct user_read read = {.registers = &registers};
	struct count first, second;
	clock_now = 10;
	assert_true(user_page_read(&page, &read, &first));
	clock_now = 20;
	assert_true(user_page_read(&page, &read, &second));
	assert_int_equal(second.enabled_ns, first.enabled_ns);
	changes_left = 1; /* Then the clock is read again, because it must not be older than the page. */
	assert_true(user_page_read(&page, &read, &second));
	assert_int_equal(second.enabled_ns, 50 + 5 + 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(offset_and_register_make_the_value, page_setup),
		cmocka_unit_test_setup(the_register_is_signed_at_its_width, page_setup),
		cmocka_unit_test_setup(a_page_that_changes_is_read_again, page_setup),
		cmocka_unit_test_setup(a_page_that_changes_without_end_is_given_up, page_setup),
		cmocka_unit_test_setup(what_the_page_does_not_allow_is_left_to_the_system_call, page_setup),
		cmocka_unit_test_setup(the_old_bits_are_not_believed, page_setup),
		cmocka_unit_test_setup(times_go_on_by_the_clock, page_setup),
		cmocka_unit_test_setup(a_clock_that_wraps_is_unwrapped, page_setup),
		cmocka_unit_test_setup(events_side_by_side_share_the_clock, page_setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
