/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/ring.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "unit_test.h"

#define PAGE 4096u
#define DATA 64u

static uint8_t memory[PAGE + DATA] __attribute__((aligned(PAGE)));

static struct perf_event_mmap_page *control(void)
{
	return (struct perf_event_mmap_page *)(void *)memory;
}

/* Simulates the kernel: writes bytes 0, 1, 2 ... at their positions in the ring, then updates data_head. */
static void kernel_writes(uint64_t *position, size_t len)
{
	for (size_t i = 0; i < len; i++, (*position)++)
		memory[PAGE + *position % DATA] = (uint8_t)*position;
	control()->data_head = *position;
}

static struct ring fresh_ring(uint64_t start)
{
	memset(memory, 0, sizeof(memory));
	control()->data_head = start;
	control()->data_tail = start;
	return ring_attach(memory, PAGE, DATA);
}

static void test_empty(void **state)
{
	struct ring ring = fresh_ring(0);
	struct tally_bytes slices[2];
	assert_int_equal(ring_peek(&ring, slices), 0);
	ring_consume(&ring);
	assert_int_equal(control()->data_tail, 0);
}

static void test_one_slice(void **state)
{
	struct ring ring = fresh_ring(0);
	struct tally_bytes slices[2];
	uint64_t position = 0;
	kernel_writes(&position, 24);
	assert_int_equal(ring_peek(&ring, slices), 1);
	assert_ptr_equal(slices[0].data, memory + PAGE);
	assert_int_equal(slices[0].len, 24);
	assert_int_equal(control()->data_tail, 0); /* The space is not released before ring_consume. */
	ring_consume(&ring);
	assert_int_equal(control()->data_tail, 24);
	assert_int_equal(ring_peek(&ring, slices), 0);
}

static void test_some_of_it_is_given_back(void **state)
{
	struct ring ring = fresh_ring(0);
	struct tally_bytes slices[2];
	uint64_t position = 0;
	kernel_writes(&position, 40);
	assert_int_equal(ring_peek(&ring, slices), 1);
	ring_release(&ring, 16);
	assert_int_equal(control()->data_tail, 16);
	kernel_writes(&position, 32);
	assert_int_equal(ring_peek(&ring, slices), 2);
	assert_ptr_equal(slices[0].data, memory + PAGE + 16);
	assert_int_equal(slices[0].len, 48);
	assert_int_equal(slices[1].len, 8);
	ring_release(&ring, 56);
	assert_int_equal(ring_peek(&ring, slices), 0);
}

static void test_wrap(void **state)
{
	uint64_t position = 3 * DATA + 48;
	struct ring ring = fresh_ring(position);
	struct tally_bytes slices[2];
	kernel_writes(&position, 40);
	assert_int_equal(ring_peek(&ring, slices), 2);
	assert_ptr_equal(slices[0].data, memory + PAGE + 48);
	assert_int_equal(slices[0].len, 16);
	assert_ptr_equal(slices[1].data, memory + PAGE);
	assert_int_equal(slices[1].len, 24);
	ring_consume(&ring);
	assert_int_equal(control()->data_tail, position);
}

static void test_full_to_the_brim(void **state)
{
	struct ring ring = fresh_ring(0);
	struct tally_bytes slices[2];
	uint64_t position = 0;
	kernel_writes(&position, DATA);
	assert_int_equal(ring_peek(&ring, slices), 1);
	assert_int_equal(slices[0].len, DATA);
}

/* A data_head beyond the size of the ring (a corrupt or hostile page) must not lead to reads outside the ring. */
static void test_head_beyond_size(void **state)
{
	struct ring ring = fresh_ring(8);
	struct tally_bytes slices[2];
	control()->data_head = 8 + 10 * DATA;
	size_t n = ring_peek(&ring, slices);
	size_t total = 0;
	for (size_t i = 0; i < n; i++) {
		assert_true(slices[i].data >= memory + PAGE);
		assert_true(slices[i].data + slices[i].len <= memory + PAGE + DATA);
		total += slices[i].len;
	}
	assert_int_equal(total, DATA);
	ring_consume(&ring);
	assert_int_equal(control()->data_tail, 8 + 10 * DATA);
}

static void test_stream_is_whole_and_in_order(void **state)
{
	uint64_t position = 0, seen = 0;
	struct ring ring = fresh_ring(0);
	srand(1);
	for (int round = 0; round < 2000; round++) {
		struct tally_bytes slices[2];
		kernel_writes(&position, (size_t)rand() % (DATA + 1));
		size_t n = ring_peek(&ring, slices);
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < slices[i].len; k++, seen++)
				assert_int_equal(slices[i].data[k], (uint8_t)seen);
		ring_consume(&ring);
	}
	assert_int_equal(seen, position);
}

static void test_clock(void **state)
{
	struct ring ring = fresh_ring(0);
	struct ring_clock clock;
	assert_false(ring_clock_read(&ring, &clock));
	control()->cap_user_time = 1;
	control()->cap_user_time_zero = 1;
	control()->time_shift = 31;
	control()->time_mult = 7;
	control()->time_zero = 99;
	assert_true(ring_clock_read(&ring, &clock));
	assert_int_equal(clock.shift, 31);
	assert_int_equal(clock.mult, 7);
	assert_int_equal(clock.zero, 99);
	assert_true(clock.has_zero);
	assert_false(clock.has_short);
}

/* Simulates a kernel with write_backward: writes a record of size bytes before the existing ones. */
static void kernel_writes_backward(uint64_t *position, uint16_t size, uint8_t mark)
{
	struct perf_event_header header = {.type = mark, .size = size};
	*position -= size;
	for (size_t i = 0; i < size; i++)
		memory[PAGE + (*position + i) % DATA] = i < sizeof(header) ? ((uint8_t *)&header)[i] : mark;
	control()->data_head = *position;
}

static void test_backward(void **state)
{
	struct ring ring = fresh_ring(0);
	struct tally_bytes slices[2];
	uint64_t position = 0;
	ring.is_backward = true;
	assert_int_equal(ring_peek(&ring, slices), 0);
	kernel_writes_backward(&position, 24, 1);
	kernel_writes_backward(&position, 16, 2);
	assert_int_equal(ring_peek(&ring, slices), 1); /* The newest record comes first. */
	assert_int_equal(slices[0].len, 40);
	assert_int_equal(slices[0].data[0], 2);
	assert_int_equal(slices[0].data[16], 1);
	ring_consume(&ring);
	assert_int_equal(control()->data_tail, 0); /* The mapping is read-only. */
	kernel_writes_backward(&position, 32, 3); /* Around the end of the ring. */
	assert_int_equal(ring_peek(&ring, slices), 2);
	assert_int_equal(slices[0].len + slices[1].len, 32);
	assert_int_equal(slices[0].data[0], 3);
	ring_consume(&ring);
	assert_int_equal(ring_peek(&ring, slices), 0);
}

/* More data was written than fits into the ring: the record that is partially overwritten is omitted. */
static void test_backward_overwritten(void **state)
{
	struct ring ring = fresh_ring(0);
	struct tally_bytes slices[2];
	uint64_t position = 0;
	ring.is_backward = true;
	for (uint8_t i = 1; i <= 5; i++)
		kernel_writes_backward(&position, 24, i);
	size_t n = ring_peek(&ring, slices);
	assert_int_equal(slices[0].len + (n == 2 ? slices[1].len : 0), 48);
	assert_int_equal(slices[0].data[0], 5);
	memory[PAGE + position % DATA + 6] = 0; /* An invalid size. */
	assert_int_equal(ring_peek(&ring, slices), 1);
	assert_int_equal(slices[0].len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_one_slice),
		cmocka_unit_test(test_some_of_it_is_given_back),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_full_to_the_brim),
		cmocka_unit_test(test_head_beyond_size),
		cmocka_unit_test(test_stream_is_whole_and_in_order),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_backward),
		cmocka_unit_test(test_backward_overwritten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
