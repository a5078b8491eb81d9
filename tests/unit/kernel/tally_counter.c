/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the public counter on a scripted kernel: error states, scaling, mapped pages and their fallback. */
#include "kernel/counting/tally_counter.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tally/region.h>

#include "fake_kernel.h"
#include "fake_root.h"
#include "unit_test.h"

#define PAGE 4096u

struct bench {
	char *root;
	struct fake_kernel fake;
	struct tally_counter *counter;
	struct tally_error err;
};

/* The page that the next mmap of an event returns, and the number of such calls. */
static struct perf_event_mmap_page *next_page;
static size_t mapped, unmapped, reads;
static ssize_t (*read_of_fake)(void *, int, void *, size_t);

static void *give_page(void *context, size_t size, int protection, int fd, off_t offset)
{
	if (!next_page) {
		errno = EPERM;
		return MAP_FAILED;
	}
	assert_int_equal(size, PAGE);
	assert_int_equal(protection, PROT_READ);
	mapped++;
	return next_page;
}

static int take_page(void *context, void *address, size_t size)
{
	assert_ptr_equal(address, next_page);
	unmapped++;
	return 0;
}

static ssize_t counted_read(void *context, int fd, void *buffer, size_t size)
{
	reads++;
	return read_of_fake(context, fd, buffer, size);
}

static int bench_setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));
	b->root = fake_root_load("intel-server");
	fake_kernel_init(&b->fake, b->root);
	read_of_fake = b->fake.seam.read;
	b->fake.seam.mmap = give_page;
	b->fake.seam.munmap = take_page;
	b->fake.seam.read = counted_read;
	next_page = NULL;
	mapped = unmapped = reads = 0;
	*state = b;
	return 0;
}

static int bench_teardown(void **state)
{
	struct bench *b = *state;
	tally_counter_close(b->counter);
	assert_int_equal(b->fake.open_count, 0);
	assert_int_equal(mapped, unmapped);
	fake_kernel_deinit(&b->fake);
	fake_root_remove(b->root);
	free(b);
	return 0;
}

static void bench_open(struct bench *b, const char *events, const struct tally_counter_options *options)
{
	b->counter = tally_counter_open_on(&b->fake.seam, events, options, &b->err);
	if (!b->counter)
		fail_msg("%s", b->err.text);
}

static void events_on_their_own_count_at_once(void **state)
{
	struct bench *b = *state;
	bench_open(b, "cycles:u,instructions:u", NULL);
	assert_string_equal(fake_kernel_log(&b->fake),
		"open cpu=-1 pid=0 group=-1 hardware/0x0 read=3 exclude_kernel exclude_hv exclude_guest = 1000\n"
		"open cpu=-1 pid=0 group=-1 hardware/0x1 read=3 exclude_kernel exclude_hv exclude_guest = 1001\n");
}

static void a_group_begins_when_it_is_whole(void **state)
{
	struct bench *b = *state;
	bench_open(b, "{cycles,instructions}:u", NULL);
	assert_string_equal(fake_kernel_log(&b->fake),
		"open cpu=-1 pid=0 group=-1 hardware/0x0 read=15 disabled exclude_kernel exclude_hv exclude_guest = "
		"1000\n"
		"open cpu=-1 pid=0 group=1000 hardware/0x1 read=15 exclude_kernel exclude_hv exclude_guest = 1001\n"
		"enable 1000\n");
}

static void options_become_bits_of_the_attr(void **state)
{
	struct bench *b = *state;
	struct tally_counter_options options = {.pid = 77,
		.one_cpu = 3,
		.is_on_one_cpu = true,
		.inherit = true,
		.starts_disabled = true,
		.enable_on_exec = true,
		.is_pinned = true,
		.is_exclusive = true};
	bench_open(b, "{cycles,instructions}:u", &options);
	assert_string_equal(fake_kernel_log(&b->fake),
		"open cpu=3 pid=77 group=-1 hardware/0x0 read=15 disabled inherit pinned exclusive exclude_kernel "
		"exclude_hv enable_on_exec exclude_guest = 1000\n"
		"open cpu=3 pid=77 group=1000 hardware/0x1 read=15 inherit exclude_kernel exclude_hv exclude_guest = "
		"1001\n");
}

static void a_pinned_group_without_room_is_in_error(void **state)
{
	struct bench *b = *state;
	struct tally_counter_options options = {.is_pinned = true};
	struct tally_count counts[2];
	struct tally_mark mark;
	b->fake.counters = 1;
	bench_open(b, "{cycles,instructions}:u", &options);
	assert_int_equal(tally_counter_read(b->counter, counts, 2, &b->err), TALLY_OK);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(counts[i].state, TALLY_COUNT_IN_ERROR);
		assert_int_equal(counts[i].value, 0);
	}
	assert_int_equal(tally_counter_value(b->counter), 0);
	assert_int_equal(tally_region_begin(b->counter, &mark), TALLY_UNSUPPORTED);
	b->fake.counters = 2; /* Another user of the PMU has ended. */
	tally_counter_enable(b->counter);
	assert_int_equal(tally_counter_read(b->counter, counts, 2, &b->err), TALLY_OK);
	assert_int_equal(counts[0].state, TALLY_COUNT_EXACT);
}

static void counts_are_scaled_and_say_so(void **state)
{
	struct bench *b = *state;
	struct tally_count counts[3];
	fake_kernel_count(&b->fake, EVENT_HARDWARE, HW_CPU_CYCLES, 100, 3000, 1000);
	fake_kernel_count(&b->fake, EVENT_HARDWARE, HW_INSTRUCTIONS, 0, 3000, 0);
	bench_open(b, "cycles:u,instructions:u,page-faults:u", NULL);
	assert_int_equal(tally_counter_read(b->counter, counts, 3, &b->err), TALLY_OK);
	assert_int_equal(counts[0].state, TALLY_COUNT_SCALED);
	assert_int_equal(counts[0].value, 300);
	assert_int_equal(counts[0].raw_value, 100);
	assert_int_equal(counts[1].state, TALLY_COUNT_NEVER_RAN);
	assert_int_equal(counts[1].value, 0);
	assert_int_equal(counts[2].state, TALLY_COUNT_EXACT);
}

static void a_region_that_never_ran_is_told(void **state)
{
	struct bench *b = *state;
	struct tally_mark mark;
	uint64_t value = 99;
	fake_kernel_count(&b->fake, EVENT_HARDWARE, HW_CPU_CYCLES, 100, 1000, 1000);
	bench_open(b, "cycles:u", NULL);
	assert_int_equal(tally_region_begin(b->counter, &mark), TALLY_OK);
	fake_kernel_count(&b->fake, EVENT_HARDWARE, HW_CPU_CYCLES, 100, 2000, 1000);
	assert_int_equal(tally_region_end(b->counter, &mark, &value, 1), TALLY_END);
	assert_int_equal(value, 0);
	fake_kernel_count(&b->fake, EVENT_HARDWARE, HW_CPU_CYCLES, 140, 4000, 2000);
	assert_int_equal(tally_region_end(b->counter, &mark, &value, 1), TALLY_OK);
	assert_int_equal(value, 120); /* 40 in a third of the region. */
}

static uint64_t fake_counter(uint32_t number)
{
	return number + 1;
}

static uint64_t fake_clock(void)
{
	return 0;
}

static struct perf_event_mmap_page a_page(void)
{
	struct perf_event_mmap_page page = {.index = 5, .offset = 1000, .pmc_width = 48, .time_mult = 1};
	page.cap_bit0_is_deprecated = 1;
	page.cap_user_rdpmc = 1;
	page.cap_user_time = 1;
	page.time_enabled = page.time_running = 10;
	return page;
}

static void a_mapped_page_is_read_without_a_system_call(void **state)
{
	static const struct user_registers registers = {fake_counter, fake_clock};
	struct bench *b = *state;
	struct perf_event_mmap_page page = a_page();
	struct tally_count counts[2];
	if (!user_registers())
		skip_because("this CPU's counters cannot be read by programs");
	next_page = &page;
	fake_kernel_count(&b->fake, EVENT_HARDWARE, HW_CPU_CYCLES, 1234, 20, 20);
	bench_open(b, "{cycles,instructions}:u", NULL);
	assert_int_equal(mapped, 2);
	b->counter->registers = &registers;
	assert_int_equal(tally_counter_read(b->counter, counts, 2, &b->err), TALLY_OK);
	assert_int_equal(reads, 0);
	assert_true(tally_counter_is_user_read(b->counter, 1));
	assert_int_equal(counts[0].value, 1005);
	assert_int_equal(counts[0].enabled_ns, 10);
	/* The event is not on the PMU: the offset of the page is not enough, so the kernel is read, once
	 * for the group. */
	page.index = 0;
	assert_int_equal(tally_counter_read(b->counter, counts, 2, &b->err), TALLY_OK);
	assert_int_equal(reads, 1);
	assert_false(tally_counter_is_user_read(b->counter, 0));
	assert_int_equal(counts[0].value, 1234);
}

static void *value_elsewhere(void *counter)
{
	static uint64_t value;
	value = tally_counter_value(counter);
	return &value;
}

static void another_thread_asks_the_kernel(void **state)
{
	static const struct user_registers registers = {fake_counter, fake_clock};
	struct bench *b = *state;
	struct perf_event_mmap_page page = a_page();
	pthread_t thread;
	void *value;
	if (!user_registers())
		skip_because("this CPU's counters cannot be read by programs");
	next_page = &page;
	fake_kernel_count(&b->fake, EVENT_HARDWARE, HW_CPU_CYCLES, 1234, 20, 20);
	bench_open(b, "cycles:u", NULL);
	b->counter->registers = &registers;
	assert_int_equal(tally_counter_value(b->counter), 1005);
	assert_int_equal(pthread_create(&thread, NULL, value_elsewhere, b->counter), 0);
	assert_int_equal(pthread_join(thread, &value), 0);
	assert_int_equal(*(uint64_t *)value, 1234);
	assert_int_equal(reads, 1);
}

static void pages_are_not_mapped_where_they_cannot_help(void **state)
{
	struct bench *b = *state;
	struct perf_event_mmap_page page = a_page();
	struct tally_counter_options options = {.never_user_reads = true};
	next_page = &page;
	bench_open(b, "cycles:u", &options);
	tally_counter_close(b->counter);
	options = (struct tally_counter_options){.inherit = true};
	bench_open(b, "cycles:u", &options);
	tally_counter_close(b->counter);
	options = (struct tally_counter_options){.pid = 77};
	bench_open(b, "cycles:u", &options);
	tally_counter_close(b->counter);
	bench_open(b, "page-faults", NULL);
	assert_int_equal(mapped, 0);
	tally_counter_close(b->counter);
	page.cap_user_rdpmc = 0;
	bench_open(b, "cycles:u", NULL);
	assert_int_equal(unmapped, mapped);
	assert_null(b->counter->pages[0]);
	tally_counter_close(b->counter);
	next_page = NULL; /* The limit on locked memory is used up. */
	bench_open(b, "cycles:u", NULL);
	assert_int_equal(tally_counter_value(b->counter), 1);
}

static void a_missing_event_is_an_alternatives_failure(void **state)
{
	struct bench *b = *state;
	fake_kernel_refuse(&b->fake, EVENT_HARDWARE, HW_CPU_CYCLES, ENOENT);
	bench_open(b, "cycles:u|page-faults:u", NULL);
	assert_string_equal(tally_counter_label(b->counter), "page-faults:u");
	assert_non_null(tally_counter_fallback_reason(b->counter));
	assert_null(tally_counter_open_on(&b->fake.seam, "cycles:u", NULL, &b->err));
	assert_int_equal(b->err.status, TALLY_UNSUPPORTED);
}

static void a_malformed_alternative_is_refused(void **state)
{
	struct bench *b = *state;
	assert_null(tally_counter_open_on(&b->fake.seam, "{cycles:u|page-faults:u", NULL, &b->err));
	assert_int_equal(b->err.status, TALLY_INVALID);
	fake_kernel_refuse(&b->fake, EVENT_HARDWARE, HW_CPU_CYCLES, ENOENT);
	assert_null(tally_counter_open_on(&b->fake.seam, "cycles:u|page-faults:#", NULL, &b->err));
	assert_int_equal(b->err.status, TALLY_INVALID);
	assert_in_range(b->err.offset, strlen("cycles:u|"), strlen("cycles:u|page-faults:#"));
}

static void a_cpu_is_never_taken_from_zeros(void **state)
{
	struct bench *b = *state;
	bench_open(b, "page-faults:u", &(struct tally_counter_options){.inherit = true});
	assert_non_null(strstr(fake_kernel_log(&b->fake), "open cpu=-1 "));
	struct tally_counter_options first = {.is_on_one_cpu = true}, unclear = {.one_cpu = 2}, below = {.one_cpu = -1};
	struct tally_counter *counter = tally_counter_open_on(&b->fake.seam, "page-faults:u", &first, &b->err);
	assert_non_null(counter);
	assert_non_null(strstr(fake_kernel_log(&b->fake), "open cpu=0 "));
	tally_counter_close(counter);
	assert_null(tally_counter_open_on(&b->fake.seam, "page-faults:u", &unclear, &b->err));
	assert_int_equal(b->err.status, TALLY_INVALID);
	assert_null(tally_counter_open_on(&b->fake.seam, "page-faults:u", &below, &b->err));
	assert_int_equal(b->err.status, TALLY_INVALID);
}

static ssize_t failing_read(void *context, int fd, void *buffer, size_t size)
{
	errno = EIO;
	return -1;
}

static void a_read_that_fails_is_an_error(void **state)
{
	struct bench *b = *state;
	struct tally_count count = {.value = 77};
	bench_open(b, "cycles:u", NULL);
	b->fake.seam.read = failing_read;
	assert_int_equal(tally_counter_read(b->counter, &count, 1, &b->err), TALLY_IO);
	assert_int_equal(b->err.errnum, EIO);
	assert_int_equal(count.value, 77);
	assert_int_equal(tally_counter_value(b->counter), 0);
}

#define BENCH_TEST(TEST) cmocka_unit_test_setup_teardown(TEST, bench_setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(events_on_their_own_count_at_once),
		BENCH_TEST(a_group_begins_when_it_is_whole),
		BENCH_TEST(options_become_bits_of_the_attr),
		BENCH_TEST(a_pinned_group_without_room_is_in_error),
		BENCH_TEST(counts_are_scaled_and_say_so),
		BENCH_TEST(a_region_that_never_ran_is_told),
		BENCH_TEST(a_mapped_page_is_read_without_a_system_call),
		BENCH_TEST(another_thread_asks_the_kernel),
		BENCH_TEST(pages_are_not_mapped_where_they_cannot_help),
		BENCH_TEST(a_missing_event_is_an_alternatives_failure),
		BENCH_TEST(a_malformed_alternative_is_refused),
		BENCH_TEST(a_cpu_is_never_taken_from_zeros),
		BENCH_TEST(a_read_that_fails_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
