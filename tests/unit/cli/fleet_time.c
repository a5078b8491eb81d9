/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/fleet_time.h"

#include "unit_test.h"

#define NS_PER_S UINT64_C(1000000000)
#define NOW	 (UINT64_C(1764313200) * NS_PER_S) /* 2025-11-28 07:00:00 UTC */

static uint64_t time_of(const char *text)
{
	uint64_t ns = 0;
	assert_true(fleet_time_parse(str_from(text), NOW, &ns));
	return ns;
}

static void test_times(void **state)
{
	(void)state;
	assert_int_equal(time_of("now"), NOW);
	assert_int_equal(time_of("-1h"), NOW - 3600 * NS_PER_S);
	assert_int_equal(time_of("1h30m"), NOW - 5400 * NS_PER_S);
	assert_int_equal(time_of("-7d"), NOW - UINT64_C(7) * 86400 * NS_PER_S);
	assert_int_equal(time_of("-5000w"), 0);
	assert_int_equal(time_of("1764313200000000001"), NOW + 1);
	assert_int_equal(time_of("1764313200s"), NOW);
	assert_int_equal(time_of("2025-11-28T07:00:00Z"), NOW);
	assert_int_equal(time_of("2025-11-28T07:00:00"), NOW);
	assert_int_equal(time_of("2025-11-28 07:00"), NOW);
	assert_int_equal(time_of("2025-11-28"), NOW - 7 * 3600 * NS_PER_S);
}

static void test_wrong_times(void **state)
{
	static const char *const wrong[] = {"", "-", "h", "1x", "1h30", "-1", "--1h", "2025-13-01",
		"2025-11-28T07:00:00X", "1969-01-01", "99999999999999999999", "9999999999999999999", "9999999999w",
		"1 h", "0x10s", "2025-11-28T07:00:00Z and a text that is far too long"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		uint64_t ns = 7;
		if (fleet_time_parse(str_from(wrong[i]), NOW, &ns))
			fail_msg("'%s' was taken", wrong[i]);
		assert_int_equal(ns, 7);
	}
	uint64_t ns;
	assert_false(fleet_time_parse((struct tally_str){"2025-11-28\0001", 12}, NOW, &ns));
}

static void test_durations(void **state)
{
	uint64_t ns;
	(void)state;
	assert_true(fleet_duration_parse(STR("2w1d"), &ns));
	assert_int_equal(ns, UINT64_C(15) * 86400 * NS_PER_S);
	assert_true(fleet_duration_parse(STR("0s"), &ns));
	assert_int_equal(ns, 0);
	assert_false(fleet_duration_parse(STR("10"), &ns));
	assert_false(fleet_duration_parse(STR("18446744073709551615s"), &ns));
}

static void test_print(void **state)
{
	struct text out = {0};
	(void)state;
	fleet_time_print(&out, NOW + 1);
	text_char(&out, '|');
	fleet_duration_print(&out, 5400 * NS_PER_S);
	text_char(&out, '|');
	fleet_duration_print(&out, 0);
	text_char(&out, 0);
	assert_string_equal(out.data, "2025-11-28 07:00:00 UTC|1h30m|0s");
	text_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_wrong_times),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_print),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
