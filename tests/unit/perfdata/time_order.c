/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/time_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "perfdata_builder.h"
#include "unit_test.h"

#define ROUND UINT64_MAX

static const struct perf_attr clock_attr = {
	.type = EVENT_SOFTWARE,
	.sample_type = SAMPLE_IP | SAMPLE_TIME,
};

/* Sorts samples of those times, numbered by their IP, with rounds; expected gives their numbers in the
 * expected order. */
static uint64_t late_of(const uint64_t *times, size_t count, const uint64_t *expected)
{
	struct perfdata_builder b;
	struct perfdata_reader *r;
	struct time_order *order;
	struct time_order_item item;
	enum tally_status status;
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &clock_attr, 1);
	size_t samples = 0;
	for (size_t i = 0; i < count; i++) {
		struct sample s = {.ip = samples, .time = times[i]};
		if (times[i] == ROUND) {
			perfdata_builder_round(&b);
			continue;
		}
		perfdata_builder_sample(&b, 0, MISC_CPUMODE_USER, &s);
		samples++;
	}
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
	assert_int_equal(time_order_create(r, &order, NULL), TALLY_OK);
	size_t seen = 0;
	while ((status = time_order_next(order, &item, NULL)) == TALLY_OK) {
		if (!item.has_time)
			continue;
		struct sample sample;
		const struct perfdata_event *event = perfdata_reader_event_of(r, &item.record);
		assert_int_equal(sample_decode(&event->layout, &item.record, &sample, NULL), TALLY_OK);
		assert_int_equal(sample.time, item.time_ns);
		assert_true(seen < samples);
		assert_int_equal(sample.ip, expected[seen++]);
	}
	assert_int_equal(status, TALLY_END);
	assert_int_equal(seen, samples);
	uint64_t late = time_order_late(order);
	time_order_destroy(order);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
	return late;
}

#define LATE(times, expected) late_of(times, ARRAY_LEN(times), expected)

/* Samples of the first round are held back at its end: another ring may still have older ones. */
static void test_a_round_waits_for_the_next(void **state)
{
	static const uint64_t times[] = {10, 30, ROUND, 20, 40, ROUND, 35, 50, ROUND};
	static const uint64_t expected[] = {0, 2, 1, 4, 3, 5};
	assert_int_equal(LATE(times, expected), 0);
}

static void test_no_round_is_one_round(void **state)
{
	static const uint64_t times[] = {5, 4, 3, 2, 1};
	static const uint64_t expected[] = {4, 3, 2, 1, 0};
	assert_int_equal(LATE(times, expected), 0);
}

static void test_equal_times_keep_the_files_order(void **state)
{
	static const uint64_t times[] = {7, 7, 6, 7, 6, 7, 5, 7, 7, 6};
	static const uint64_t expected[] = {6, 2, 4, 9, 0, 1, 3, 5, 7, 8};
	assert_int_equal(LATE(times, expected), 0);
}

/* A sample that is two rounds late cannot be sorted; it is returned at once and counted. */
static void test_late_records_are_counted(void **state)
{
	static const uint64_t times[] = {10, 20, ROUND, 30, ROUND, 5, 40, ROUND, 6, ROUND};
	static const uint64_t expected[] = {0, 1, 3, 2, 5, 4};
	assert_int_equal(LATE(times, expected), 2);
}

static void test_empty_rounds(void **state)
{
	static const uint64_t times[] = {ROUND, ROUND, 2, ROUND, ROUND, 1, ROUND};
	static const uint64_t expected[] = {0, 1};
	assert_int_equal(LATE(times, expected), 1);
}

static int by_time_then_place(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	return x[1] < y[1] ? -1 : 1;
}

/* Simulates rounds: several rings one after the other, each in order, then the end of the round, for each size; the
 * result is compared with qsort. */
static void check_rings(size_t rings, const size_t *each, size_t rounds)
{
	size_t total = rounds, samples = 0, place = 0;
	for (size_t i = 0; i < rounds; i++)
		total += rings * each[i];
	uint64_t(*pairs)[2] = calloc(total, sizeof(*pairs));
	uint64_t *times = calloc(total, sizeof(*times));
	uint64_t *expected = calloc(total, sizeof(*expected));
	uint64_t from = 1;
	uint32_t seed = 1;
	for (size_t round = 0; round < rounds; round++) {
		size_t count = rings * each[round], first = samples;
		for (size_t i = 0; i < count; i++) {
			seed = seed * 1664525u + 1013904223u;
			times[place] = (i % each[round] ? times[place - 1] : from) + (seed >> 28);
			pairs[i][0] = times[place++];
			pairs[i][1] = samples++;
		}
		qsort(pairs, count, sizeof(*pairs), by_time_then_place);
		for (size_t i = 0; i < count; i++)
			expected[first + i] = pairs[i][1];
		times[place++] = ROUND;
		from += 16 * each[round];
	}
	assert_int_equal(late_of(times, place - 1, expected), 0); /* The last round has no end. */
	free(pairs);
	free(times);
	free(expected);
}

static void test_many_rings(void **state)
{
	check_rings(16, (size_t[]){500}, 1);
	check_rings(3, (size_t[]){200, 700, 1, 300}, 4);
}

/* More samples than are held in memory. */
static void test_a_million_without_a_round(void **state)
{
	check_rings(16, (size_t[]){70000}, 1);
	check_rings(1, (size_t[]){1200000}, 1);
}

/* Long rounds, and then so short ones that they are held in memory again. */
static void test_long_rounds(void **state)
{
	check_rings(4, (size_t[]){300000, 300000, 1000, 1000, 500}, 5);
	/* As many as are held in memory; all have been returned before the next one. */
	check_rings(1, (size_t[]){1 << 20, 0, 5, 5}, 4);
}

/* All complete records are returned in order, then the error, once. */
static void test_a_cut_stream(void **state)
{
	struct perfdata_builder b;
	struct perfdata_reader *r;
	struct time_order *order;
	struct time_order_item item;
	struct tally_error err;
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &clock_attr, 1);
	for (uint64_t i = 0; i < 4; i++) {
		struct sample s = {.time = 100 - i};
		perfdata_builder_sample(&b, 0, MISC_CPUMODE_USER, &s);
	}
	struct tally_bytes pipe = perfdata_builder_pipe(&b);
	pipe.len -= 4;
	assert_int_equal(perfdata_reader_open_bytes(pipe, &r, NULL), TALLY_OK);
	assert_int_equal(time_order_create(r, &order, NULL), TALLY_OK);
	uint64_t times[4] = {0};
	size_t count = 0;
	enum tally_status status;
	while ((status = time_order_next(order, &item, &err)) == TALLY_OK)
		if (item.has_time)
			times[count++] = item.time_ns;
	assert_int_equal(status, TALLY_CORRUPT);
	assert_int_equal(count, 3);
	assert_memory_equal(times, ((uint64_t[]){98, 99, 100}), 24);
	assert_int_equal(time_order_next(order, &item, &err), TALLY_END);
	time_order_destroy(order);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_round_waits_for_the_next),
		cmocka_unit_test(test_no_round_is_one_round),
		cmocka_unit_test(test_equal_times_keep_the_files_order),
		cmocka_unit_test(test_late_records_are_counted),
		cmocka_unit_test(test_empty_rounds),
		cmocka_unit_test(test_many_rings),
		cmocka_unit_test(test_a_million_without_a_round),
		cmocka_unit_test(test_long_rounds),
		cmocka_unit_test(test_a_cut_stream),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
