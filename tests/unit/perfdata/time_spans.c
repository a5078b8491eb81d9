/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/time_spans.h"

#include "abi/wait_record.h"
#include "base/array.h"
#include "perfdata_builder.h"
#include "unit_test.h"

static const struct time_span whole = {1000, 2000};

static void check(const char *text, size_t count, uint64_t first, uint64_t last)
{
	struct time_spans spans;
	struct tally_error err;
	enum tally_status status = time_spans_parse(str_from(text), whole, &spans, &err);
	if (count == 0) {
		if (status != TALLY_INVALID)
			fail_msg("'%s' is taken", text);
		return;
	}
	if (status != TALLY_OK)
		fail_msg("'%s': %s", text, err.text);
	assert_int_equal(spans.items.len, count);
	assert_int_equal(spans.items.items[0].first_ns, first);
	assert_int_equal(spans.items.items[count - 1].last_ns, last);
	time_spans_deinit(&spans);
}

static void test_seconds(void **state)
{
	check("1.5,2", 1, 1500000000, 2000000000);
	check("1.000000001,1.000000001", 1, 1000000001, 1000000001);
	check(",2.25", 1, 0, 2250000000);
	check("3,", 1, 3000000000, UINT64_MAX);
	check(",", 1, 0, UINT64_MAX);
	check("1,2 3,4", 2, 1000000000, 4000000000);
	check(" 1,2  3,4 ", 2, 1000000000, 4000000000);
	check("1, 2", 1, 1000000000, 2000000000);
	check("1,  2 3, 4", 2, 1000000000, 4000000000);
	/* The times at which perf's sums of waits begin, and beyond any valid time. */
	check("18446744069414584,", 1, WAIT_SUMS_NS - 1, UINT64_MAX);
	check("0, 18446744074", 1, 0, WAIT_SUMS_NS - 1);
	check("18446744073,", 1, UINT64_C(18446744073000000000), UINT64_MAX);
}

static void test_seconds_that_are_none(void **state)
{
	static const char *const bad[] = {"", " ", "1.5", "2,1", "3,4 1,2", "1,2 2,3", "garbage", "1.2.3,5", "0x10,20",
		"1e3,2e4", "1.0000000001,2", "1.,2", ".5,2", "1,2,3", "-1,2", "0 ,1", "3, 4,5",
		"99999999999999999999,"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		check(bad[i], 0, 0, 0);
}

static void test_percentages(void **state)
{
	check("10%", 1, 1000, 1100);
	check("10%/1", 1, 1000, 1100);
	check("10%/2", 1, 1100, 1200);
	check("25.5%/2", 1, 1255, 1510);
	check("0%-10%", 1, 1000, 1100);
	check("100%", 1, 1000, 2000);
	check("10%/2,10%/1", 2, 1100, 1100);
	check("0%-10%,5%-40%", 2, 1000, 1400);
	check("10%-5%", 1, 1100, 1050); /* perf accepts this; the span is empty. */
}

static void test_percentages_that_are_none(void **state)
{
	static const char *const bad[] = {"%", "0%", "101%", "0%-110%", "50%/3", "10%/0", "10%/11", "10%/", "10%/-1",
		"10%-", "10%-20", "10%/2 20%/1", "10%,", "10%x", "1.%", "10%/99999999999999999999"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		check(bad[i], 0, 0, 0);
}

static void test_membership(void **state)
{
	struct time_spans spans;
	assert_int_equal(time_spans_parse(STR("10%/2,10%/5"), whole, &spans, NULL), TALLY_OK);
	assert_false(time_spans_have(&spans, 1099));
	assert_true(time_spans_have(&spans, 1100));
	assert_true(time_spans_have(&spans, 1200));
	assert_false(time_spans_have(&spans, 1201));
	assert_true(time_spans_have(&spans, 1450));
	time_spans_deinit(&spans);
}

/* If the header has no times, the recording is read once and rewound. */
static void test_bounds_of_a_recording(void **state)
{
	static const struct perf_attr attr = {.type = EVENT_SOFTWARE,
		.sample_type = SAMPLE_IP | SAMPLE_TIME,
		.flags = ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL)};
	for (int swap = 0; swap < 2; swap++) {
		struct perfdata_builder b;
		struct perfdata_reader *r;
		struct time_spans spans;
		struct record record;
		perfdata_builder_init(&b, swap);
		perfdata_builder_event(&b, &attr, 1);
		for (uint64_t i = 0; i <= 10; i++)
			perfdata_builder_sample(&b, 0, 0, &(struct sample){.time = 500 + 100 * (10 - i)});
		assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
		assert_int_equal(time_spans_read("50%/2", r, &spans, NULL), TALLY_OK);
		assert_int_equal(spans.items.items[0].first_ns, 1000);
		assert_int_equal(spans.items.items[0].last_ns, 1500);
		assert_int_equal(perfdata_reader_next(r, &record, NULL), TALLY_OK);
		time_spans_deinit(&spans);
		perfdata_reader_destroy(r);
		perfdata_builder_deinit(&b);
	}
}

/* Percentages of an empty recording select everything; seconds stay seconds. */
static void test_a_recording_without_times(void **state)
{
	static const struct perf_attr attr = {.type = EVENT_SOFTWARE, .sample_type = SAMPLE_IP};
	struct perfdata_builder b;
	struct perfdata_reader *r;
	struct time_spans spans;
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &attr, 1);
	perfdata_builder_sample(&b, 0, 0, &(struct sample){.ip = 1});
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
	assert_int_equal(time_spans_read("0%-10%,30%-40%", r, &spans, NULL), TALLY_OK);
	assert_int_equal(spans.items.len, 2);
	assert_true(time_spans_have(&spans, 0) && time_spans_have(&spans, UINT64_MAX));
	time_spans_deinit(&spans);
	assert_int_equal(time_spans_read("1,2", r, &spans, NULL), TALLY_OK);
	assert_false(time_spans_have(&spans, 0));
	time_spans_deinit(&spans);
	perfdata_reader_destroy(r);
	perfdata_builder_deinit(&b);
}

static void test_texts_alone(void **state)
{
	assert_true(time_spans_are_valid("1,2"));
	assert_true(time_spans_are_valid("10%/2"));
	assert_false(time_spans_are_valid("2,1"));
	assert_false(time_spans_are_valid(""));
}

/* The times of the header are used if they exist and are plausible, otherwise those of the samples. */
static void test_bounds_in_the_header(void **state)
{
	static const struct perf_attr attr = {.type = EVENT_SOFTWARE, .sample_type = SAMPLE_IP | SAMPLE_TIME};
	static const struct {
		uint64_t first, last;
		bool is_taken;
	} cases[] = {{100, 200, true}, {100, 100, true}, {0, 200, false}, {200, 100, false}, {100, UINT64_MAX, false},
		{UINT64_MAX, UINT64_MAX, false}, {1, UINT64_MAX - 1, true}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct perfdata_builder b;
		struct perfdata_reader *r;
		uint64_t words[2] = {cases[i].first, cases[i].last};
		perfdata_builder_init(&b, false);
		perfdata_builder_event(&b, &attr, 1);
		for (uint64_t k = 0; k < 3; k++)
			perfdata_builder_sample(&b, 0, 0, &(struct sample){.time = 50 + k});
		perfdata_builder_feature(&b, FEATURE_SAMPLE_TIME, words, sizeof(words));
		assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &r, NULL), TALLY_OK);
		struct time_span bounds = time_bounds_read(r);
		assert_int_equal(bounds.first_ns, cases[i].is_taken ? cases[i].first : 50);
		assert_int_equal(bounds.last_ns, cases[i].is_taken ? cases[i].last : 52);
		perfdata_reader_destroy(r);
		perfdata_builder_deinit(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_seconds_that_are_none),
		cmocka_unit_test(test_percentages),
		cmocka_unit_test(test_percentages_that_are_none),
		cmocka_unit_test(test_membership),
		cmocka_unit_test(test_texts_alone),
		cmocka_unit_test(test_bounds_in_the_header),
		cmocka_unit_test(test_bounds_of_a_recording),
		cmocka_unit_test(test_a_recording_without_times),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
