/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/record_words.h"

#include <time.h>

#include "unit_test.h"

static void test_clocks(void **state)
{
	int32_t clock = -1;
	assert_true(record_clock_find("CLOCK_MONOTONIC", &clock));
	assert_int_equal(clock, CLOCK_MONOTONIC);
	assert_true(record_clock_find("raw", &clock));
	assert_int_equal(clock, CLOCK_MONOTONIC_RAW);
	assert_true(record_clock_find("7", &clock));
	assert_int_equal(clock, 7);
	assert_false(record_clock_find("bogus", &clock));
	assert_false(record_clock_find("", &clock));
	assert_false(record_clock_find("99999999999999999999", &clock));
	assert_int_equal(clock, 7);
}

static void test_registers(void **state)
{
	uint64_t mask = 0;
	struct tally_str unknown;
#ifdef __x86_64__
	assert_true(record_registers_parse(str_from("ip,SP,r15"), &mask, &unknown));
	assert_int_equal(mask, 1u << 8 | 1u << 7 | 1u << 23);
#endif
	assert_false(record_registers_parse(str_from("ip,foo"), &mask, &unknown));
	/* On some architectures ip has another name. */
	assert_true(str_equal(unknown, STR("foo")) || str_equal(unknown, STR("ip")));
	assert_false(record_registers_parse(str_from(""), &mask, &unknown));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_registers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
