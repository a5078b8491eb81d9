/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sample_clock.h"

#include "analysis/replay/replay.h"
#include "perfdata_builder.h"
#include "unit_test.h"

#define HISTORY (ATTR_FLAG(ATTR_BIT_MMAP) | ATTR_FLAG(ATTR_BIT_COMM) | ATTR_FLAG(ATTR_BIT_TASK))

static struct perf_attr attr_of(uint64_t sample_type, uint64_t flags)
{
	return (struct perf_attr){.type = EVENT_SOFTWARE,
		.sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | sample_type,
		.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL) | flags};
}

/* Adds an event with times that records mappings, and one without times. */
static void add_events(struct perfdata_builder *b)
{
	struct perf_attr timed = attr_of(SAMPLE_TIME, HISTORY), untimed = attr_of(0, 0);
	perfdata_builder_event(b, &timed, 1);
	perfdata_builder_event(b, &untimed, 2);
}

static void put_sample(struct perfdata_builder *b, size_t event, uint64_t time)
{
	struct sample s = {.id = event + 1, .ip = 0x400010, .pid = 1, .tid = 1, .time = time};
	perfdata_builder_sample(b, event, MISC_CPUMODE_USER, &s);
}

static void put_mapping(struct perfdata_builder *b, uint64_t time)
{
	struct record_fields record = {.type = RECORD_MMAP2,
		.mmap = {.pid = 1,
			.tid = 1,
			.start = 0x400000,
			.len = 0x1000,
			.prot = 5,
			.filename = STR("/nonexistent/a")}};
	perfdata_builder_record(b, &record, MISC_CPUMODE_USER, time);
}

/* A record in the ring of one CPU may precede an earlier record of another CPU in the file. */
static void samples_find_what_another_ring_told(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		struct perfdata_reader *reader;
		struct binary_store *store;
		struct replay_result result;
		perfdata_builder_init(&b, swap);
		add_events(&b);
		put_sample(&b, 1, 0); /* Nothing before it has a time, so nothing is mapped yet. */
		put_sample(&b, 0, 30);
		put_sample(&b, 1, 0); /* At time 30, before the mapping. */
		put_sample(&b, 0, 50);
		put_sample(&b, 1, 0); /* At time 50. */
		put_sample(&b, 1, 0);
		put_mapping(&b, 40);
		(void)perfdata_builder_file(&b);
		assert_int_equal(perfdata_reader_open_bytes(writer_view(&b.out), &reader, NULL), TALLY_OK);
		assert_int_equal(binary_store_create(&(struct binary_store_options){0}, &store, NULL), TALLY_OK);
		assert_int_equal(
			replay_profile(reader, store, &(struct replay_options){.threads = 1}, &result, NULL), TALLY_OK);
		assert_int_equal(result.hits.samples, 6);
		assert_int_equal(result.hits.files.len, 1);
		assert_int_equal(result.hits.files.items[0].samples, 3);
		replay_result_deinit(&result);
		binary_store_destroy(store);
		perfdata_reader_destroy(reader);
		perfdata_builder_deinit(&b);
	}
}

static struct sample_clock clock_of(const struct perf_attr *first, const struct perf_attr *second)
{
	struct perfdata_builder b;
	struct perfdata_reader *reader;
	struct sample_clock clock;
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, first, 1);
	perfdata_builder_event(&b, second, 2);
	(void)perfdata_builder_file(&b);
	assert_int_equal(perfdata_reader_open_bytes(writer_view(&b.out), &reader, NULL), TALLY_OK);
	sample_clock_init(&clock, reader);
	perfdata_reader_destroy(reader);
	perfdata_builder_deinit(&b);
	return clock;
}

static void positions_are_the_clock_where_mappings_have_no_times(void **state)
{
	struct perf_attr timed = attr_of(SAMPLE_TIME, HISTORY), other = attr_of(SAMPLE_TIME, 0),
			 untimed = attr_of(0, 0), untimed_history = attr_of(0, HISTORY);
	struct sample_clock clock = clock_of(&timed, &other);
	assert_false(clock.is_position || clock.is_mixed);
	clock = clock_of(&timed, &untimed);
	assert_true(!clock.is_position && clock.is_mixed);
	clock = clock_of(&other, &untimed_history);
	assert_true(clock.is_position && !clock.is_mixed);
	assert_int_equal(sample_clock_at(&clock, NULL, 7, 99), 7);
	clock = clock_of(&untimed, &untimed);
	assert_true(clock.is_position && !clock.is_mixed);
}

static void the_last_time_of_a_part_holds_in_the_next(void **state)
{
	struct perf_attr untimed = attr_of(0, 0);
	struct perfdata_event event = {.attr = untimed};
	struct sample_clock clock = {.is_mixed = true};
	struct clock_marks first = CLOCK_MARKS_NONE, second = CLOCK_MARKS_NONE;
	first.last = (struct clock_mark){100, 5};
	assert_true(vec_push(&second.items, ((struct clock_mark){300, 9})));
	assert_true(sample_clock_take(&clock, &first) && sample_clock_take(&clock, &second));
	assert_int_equal(sample_clock_at(&clock, &event, 50, 0), 0);
	assert_int_equal(sample_clock_at(&clock, &event, 100, 0), 0);
	assert_int_equal(sample_clock_at(&clock, &event, 250, 0), 5);
	assert_int_equal(sample_clock_at(&clock, &event, 301, 0), 9);
	event.attr.sample_type |= SAMPLE_TIME;
	assert_int_equal(sample_clock_at(&clock, &event, 301, 42), 42);
	vec_free(&second.items);
	sample_clock_deinit(&clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_find_what_another_ring_told),
		cmocka_unit_test(positions_are_the_clock_where_mappings_have_no_times),
		cmocka_unit_test(the_last_time_of_a_part_holds_in_the_next),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
