/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the public ring on memory of the test: records across the end, invalid records, the AUX area, the clock. */
#include "kernel/recording/tally_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tally/sampler.h>

#include "abi/perf_constants.h"
#include "fake_kernel.h"
#include "unit_test.h"

#define PAGE 4096u
#define DATA 4096u
#define AUX  8192u

static uint8_t memory[PAGE + DATA] __attribute__((aligned(PAGE)));
static uint8_t aux[AUX] __attribute__((aligned(PAGE)));
static int aux_protection;
static size_t mapped;
static struct fake_kernel *fake;
static struct tally_ring *ring;
static struct tally_error err;

static struct perf_event_mmap_page *control(void)
{
	return (struct perf_event_mmap_page *)(void *)memory;
}

static void *give_memory(void *context, size_t size, int protection, int fd, off_t offset)
{
	mapped++;
	if (offset == 0) {
		assert_int_equal(size, PAGE + DATA);
		return memory;
	}
	assert_int_equal(offset, PAGE + DATA);
	assert_int_equal(size, AUX);
	assert_int_equal(control()->aux_offset, offset);
	assert_int_equal(control()->aux_size, size);
	aux_protection = protection;
	return aux;
}

static int take_memory(void *context, void *address, size_t size)
{
	mapped--;
	return 0;
}

static int ring_setup(void **state)
{
	struct perf_attr attr = {.type = EVENT_SOFTWARE};
	memset(memory, 0, sizeof(memory));
	fake = calloc(1, sizeof(*fake));
	fake_kernel_init(fake, "");
	fake->seam.mmap = give_memory;
	fake->seam.munmap = take_memory;
	assert_int_equal(fake->seam.perf_event_open(fake, &attr, 0, -1, -1, 0), FAKE_FD);
	return 0;
}

static int ring_teardown(void **state)
{
	tally_ring_close(ring);
	ring = NULL;
	assert_int_equal(mapped, 0);
	fake->seam.close(fake, FAKE_FD);
	fake_kernel_deinit(fake);
	free(fake);
	return 0;
}

static void open_ring(struct tally_ring_options options)
{
	options.data_bytes = DATA;
	ring = tally_ring_open_on(&fake->seam, FAKE_FD, &options, &err);
	if (!ring)
		fail_msg("%s", err.text);
}

/* Simulates the kernel: writes a record of size bytes, each with the number of the record. */
static void kernel_writes(uint32_t type, uint16_t size, uint8_t number)
{
	uint64_t head = control()->data_head;
	uint8_t bytes[1024];
	struct perf_event_header header = {.type = type, .size = size};
	memset(bytes, number, sizeof(bytes));
	memcpy(bytes, &header, sizeof(header));
	for (size_t i = 0; i < size; i++)
		memory[PAGE + (head + i) % DATA] = bytes[i];
	control()->data_head = head + size;
}

static void records_are_whole_across_the_end(void **state)
{
	struct tally_record record;
	open_ring((struct tally_ring_options){0});
	for (uint8_t number = 0; number < 200; number++) {
		kernel_writes(PERF_RECORD_SAMPLE, 72, number);
		assert_int_equal(tally_ring_next(ring, &record), TALLY_OK);
		assert_int_equal(record.size, 72);
		assert_int_equal(record.type, PERF_RECORD_SAMPLE);
		assert_int_equal((uintptr_t)record.bytes % 8, 0);
		for (size_t i = 8; i < 72; i++)
			assert_int_equal(((const uint8_t *)record.bytes)[i], number);
	}
	assert_int_equal(tally_ring_next(ring, &record), TALLY_END);
}

static void the_tail_moves_when_a_record_was_used(void **state)
{
	struct tally_record record;
	open_ring((struct tally_ring_options){0});
	kernel_writes(PERF_RECORD_SAMPLE, 24, 1);
	kernel_writes(PERF_RECORD_SAMPLE, 40, 2);
	assert_int_equal(tally_ring_next(ring, &record), TALLY_OK);
	assert_int_equal(control()->data_tail, 0);
	assert_int_equal(tally_ring_next(ring, &record), TALLY_OK);
	assert_int_equal(control()->data_tail, 24);
	kernel_writes(PERF_RECORD_SAMPLE, 32, 3); /* The record comes before the reader has seen the end. */
	assert_int_equal(tally_ring_next(ring, &record), TALLY_OK);
	assert_int_equal(control()->data_tail, 64);
	assert_int_equal(tally_ring_next(ring, &record), TALLY_END);
	assert_int_equal(control()->data_tail, 96);
}

static void a_record_that_lies_ends_the_pass(void **state)
{
	static const uint16_t sizes[] = {0, 7, 1000};
	struct tally_record record;
	open_ring((struct tally_ring_options){0});
	for (size_t i = 0; i < 3; i++) {
		kernel_writes(PERF_RECORD_SAMPLE, 24, 1);
		uint64_t at = control()->data_head;
		kernel_writes(PERF_RECORD_SAMPLE, 64, 2);
		memcpy(memory + PAGE + (at + 6) % DATA, &sizes[i], sizeof(sizes[i]));
		assert_int_equal(tally_ring_next(ring, &record), TALLY_OK);
		assert_int_equal(tally_ring_next(ring, &record), TALLY_END);
		assert_int_equal(control()->data_tail, control()->data_head);
	}
}

static void an_overwriting_ring_is_paused_for_a_pass(void **state)
{
	struct tally_record record;
	open_ring((struct tally_ring_options){.is_overwriting = true});
	fake_kernel_log(fake);
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = 16};
	for (int i = 0; i < 2; i++) {
		control()->data_head -= 16;
		memcpy(memory + PAGE + control()->data_head % DATA, &header, sizeof(header));
	}
	assert_int_equal(tally_ring_next(ring, &record), TALLY_OK);
	assert_string_equal(fake_kernel_log(fake), "ioctl9 1000\n");
	assert_int_equal(tally_ring_next(ring, &record), TALLY_OK);
	assert_int_equal(tally_ring_next(ring, &record), TALLY_END);
	assert_string_equal(fake_kernel_log(fake), "ioctl9 1000\n");
	assert_int_equal(control()->data_tail, 0);
	assert_int_equal(tally_ring_next(ring, &record), TALLY_END);
}

static void the_aux_area_follows_head_and_tail(void **state)
{
	struct tally_slice slices[2];
	open_ring((struct tally_ring_options){.aux_bytes = AUX - 1});
	assert_int_equal(aux_protection, PROT_READ | PROT_WRITE);
	assert_int_equal(tally_ring_aux(ring, slices), 0);
	control()->aux_head = 6000;
	assert_int_equal(tally_ring_aux(ring, slices), 1);
	assert_ptr_equal(slices[0].bytes, aux);
	assert_int_equal(slices[0].len, 6000);
	assert_int_equal(control()->aux_tail, 0);
	control()->aux_head = 7000; /* The data came after tally_ring_aux, so it is not released. */
	tally_ring_aux_release(ring);
	assert_int_equal(control()->aux_tail, 6000);
	control()->aux_head = 10000;
	assert_int_equal(tally_ring_aux(ring, slices), 2);
	assert_ptr_equal(slices[0].bytes, aux + 6000);
	assert_int_equal(slices[0].len, AUX - 6000);
	assert_ptr_equal(slices[1].bytes, aux);
	assert_int_equal(slices[1].len, 10000 - AUX);
	tally_ring_aux_release(ring);
	assert_int_equal(control()->aux_tail, 10000);
	control()->aux_head = 10000 + 3 * AUX; /* An invalid value. */
	assert_int_equal(tally_ring_aux(ring, slices), 2);
	assert_int_equal(slices[0].len + slices[1].len, AUX);
}

static void an_overwriting_aux_area_is_given_whole(void **state)
{
	struct tally_slice slices[2];
	open_ring((struct tally_ring_options){.aux_bytes = AUX, .aux_is_overwriting = true});
	assert_int_equal(aux_protection, PROT_READ);
	control()->aux_head = 5000;
	assert_int_equal(tally_ring_aux(ring, slices), 2);
	assert_ptr_equal(slices[0].bytes, aux + 5000);
	assert_int_equal(slices[0].len, AUX - 5000);
	assert_int_equal(slices[1].len, 5000);
	tally_ring_aux_release(ring);
	assert_int_equal(control()->aux_tail, 0);
}

static void the_clock_converts_both_ways(void **state)
{
	uint64_t time, cycles;
	open_ring((struct tally_ring_options){0});
	assert_false(tally_ring_time_of_cycles(ring, 1000, &time));
	control()->cap_user_time = 1;
	assert_false(tally_ring_cycles_of_time(ring, 1000, &cycles));
	control()->cap_user_time_zero = 1;
	assert_false(tally_ring_cycles_of_time(ring, 1000, &cycles)); /* The scale is missing. */
	control()->time_mult = 1 << 9; /* Half a nanosecond per tick. */
	control()->time_shift = 10;
	control()->time_zero = 500;
	assert_true(tally_ring_time_of_cycles(ring, 3000, &time));
	assert_int_equal(time, 2000);
	assert_true(tally_ring_cycles_of_time(ring, 2000, &cycles));
	assert_int_equal(cycles, 3000);
	control()->cap_user_time_short = 1;
	control()->time_cycles = 0x1ff0;
	control()->time_mask = 0xff;
	assert_true(tally_ring_time_of_cycles(ring, 0x10, &time)); /* The cycles become 0x2010. */
	assert_int_equal(time, 500 + 0x2010 / 2);
	control()->time_shift = 64;
	assert_false(tally_ring_time_of_cycles(ring, 3000, &time));
}

static void words_off_their_boundary_are_corrupt(void **state)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR};
	uint64_t words[6] = {0};
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = sizeof(words)};
	struct tally_record record = {PERF_RECORD_SAMPLE, 0, sizeof(words), words};
	struct tally_sample sample = {.ip = 77};
	attr.sample_regs_intr = 1;
	memcpy(words, &header, sizeof(header));
	words[1] = 1; /* A stack dump of one byte, its size, an ABI, then a register that is not within the record. */
	((uint8_t *)words)[25] = 1;
	assert_int_equal(tally_sample_decode(&attr, &record, &sample, &err), TALLY_CORRUPT);
	assert_int_equal(sample.ip, 77);
}

#define RING_TEST(TEST) cmocka_unit_test_setup_teardown(TEST, ring_setup, ring_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RING_TEST(records_are_whole_across_the_end),
		RING_TEST(the_tail_moves_when_a_record_was_used),
		RING_TEST(a_record_that_lies_ends_the_pass),
		RING_TEST(an_overwriting_ring_is_paused_for_a_pass),
		RING_TEST(the_aux_area_follows_head_and_tail),
		RING_TEST(an_overwriting_aux_area_is_given_whole),
		RING_TEST(the_clock_converts_both_ways),
		cmocka_unit_test(words_off_their_boundary_are_corrupt),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
