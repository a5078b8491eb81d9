/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/read_format.h"

#include <string.h>

#include "abi/perf_constants.h"
#include "unit_test.h"

#define TIMES	   (READ_FORMAT_TOTAL_TIME_ENABLED | READ_FORMAT_TOTAL_TIME_RUNNING)
#define EVERYTHING (TIMES | READ_FORMAT_ID | READ_FORMAT_LOST)

static void one_event_in_every_format(void **state)
{
	for (uint64_t format = 0; format < 32; format++) {
		uint64_t words[5], count = 0;
		struct tally_reading reading;
		if (format & READ_FORMAT_GROUP)
			continue;
		words[count++] = 10;
		if (format & READ_FORMAT_TOTAL_TIME_ENABLED)
			words[count++] = 20;
		if (format & READ_FORMAT_TOTAL_TIME_RUNNING)
			words[count++] = 30;
		if (format & READ_FORMAT_ID)
			words[count++] = 40;
		if (format & READ_FORMAT_LOST)
			words[count++] = 50;
		assert_int_equal(reading_decode(words, count, format, &reading, NULL, 0), TALLY_OK);
		assert_int_equal(reading.count, 1);
		assert_int_equal(reading.first.value, 10);
		assert_int_equal(reading.enabled_ns, format & READ_FORMAT_TOTAL_TIME_ENABLED ? 20 : 0);
		assert_int_equal(reading.running_ns, format & READ_FORMAT_TOTAL_TIME_RUNNING ? 30 : 0);
		assert_int_equal(reading.first.id, format & READ_FORMAT_ID ? 40 : 0);
		assert_int_equal(reading.first.lost, format & READ_FORMAT_LOST ? 50 : 0);
		/* Every shorter result is invalid, except an empty one. */
		for (uint64_t cut = 1; cut < count; cut++)
			assert_int_equal(reading_decode(words, cut, format, &reading, NULL, 0), TALLY_CORRUPT);
	}
}

static void a_group_with_everything(void **state)
{
	const uint64_t words[] = {2, 20, 30, 11, 41, 51, 12, 42, 52};
	struct tally_reading_value values[2];
	struct tally_reading reading;
	uint64_t format = EVERYTHING | READ_FORMAT_GROUP;
	assert_int_equal(reading_decode(words, 9, format, &reading, values, 2), TALLY_OK);
	assert_int_equal(reading.count, 2);
	assert_int_equal(reading.first.value, 11);
	assert_int_equal(values[1].value, 12);
	assert_int_equal(values[1].id, 42);
	assert_int_equal(values[1].lost, 52);
	assert_int_equal(reading_decode(words, 9, format, &reading, values, 1), TALLY_LIMIT);
	for (size_t cut = 1; cut < 9; cut++)
		assert_int_equal(reading_decode(words, cut, format, &reading, values, 2), TALLY_CORRUPT);
}

static void a_lying_number_of_events_is_not_believed(void **state)
{
	const uint64_t words[] = {UINT64_MAX, 1};
	struct tally_reading_value values[2];
	struct tally_reading reading = {.count = 77};
	assert_int_equal(reading_decode(words, 2, READ_FORMAT_GROUP, &reading, values, 2), TALLY_LIMIT);
	assert_int_equal(reading.count, 77);
}

static void nothing_read_is_the_error_state(void **state)
{
	struct tally_reading reading;
	assert_int_equal(reading_decode(NULL, 0, TIMES, &reading, NULL, 0), TALLY_OK);
	assert_true(reading.is_in_error);
	assert_int_equal(reading.first.value, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_event_in_every_format),
		cmocka_unit_test(a_group_with_everything),
		cmocka_unit_test(a_lying_number_of_events_is_not_believed),
		cmocka_unit_test(nothing_read_is_the_error_state),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
