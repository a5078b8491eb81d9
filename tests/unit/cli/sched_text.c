/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/sched/sched_text.h"

#include "analysis/sched_latency.h"
#include "unit_test.h"
#include "verbs/sched/sched_histogram.h"

static void assert_text(struct text *out, const char *expected)
{
	text_char(out, 0);
	assert_string_equal(out->data, expected);
	text_deinit(out);
}

static void times_are_cut_not_rounded(void **state)
{
	struct text out = {0};
	sched_text_time(&out, UINT64_C(12000000999), 12);
	assert_text(&out, "   12.000000");
	out = (struct text){0};
	sched_text_ms(&out, UINT64_C(1234999), 9);
	assert_text(&out, "    1.234");
	out = (struct text){0};
	sched_text_ms(&out, UINT64_C(123456789012), 6); /* The number is wider than its column. */
	assert_text(&out, "123456.789");
}

static void unknown_keys_are_named(void **state)
{
	assert_null(sched_latency_unknown_key("max,avg,pid,switch,runtime"));
	const char *unknown = sched_latency_unknown_key("max,sleep,avg");
	assert_non_null(unknown);
	assert_int_equal(strncmp(unknown, "sleep", 5), 0);
}

static void assert_line(bool is_linear, size_t bucket, const char *range)
{
	struct sched_latency latency;
	sched_latency_init(&latency);
	uint64_t *counts = is_linear ? latency.linear_waits : latency.log_waits;
	counts[bucket] = 3;
	struct text out = {0};
	sched_histogram_print(&latency, is_linear, &out);
	text_char(&out, 0);
	const char *line = strstr(out.data, range);
	if (!line)
		fail_msg("no '%s' in\n%s", range, out.data);
	assert_non_null(strstr(line, "|          3 | 100.0% | ########################################\n"));
	text_deinit(&out);
	sched_latency_deinit(&latency);
}

static void ranges_have_units(void **state)
{
	assert_line(false, 0, "< 1 us");
	assert_line(false, 1, "1 - 2 us");
	assert_line(false, 10, "512 - 1024 us");
	assert_line(false, 11, "1 - 2 ms");
	assert_line(false, 21, "1 - 2 s");
	assert_line(true, 1, " us");
	assert_line(true, SCHED_LATENCY_LINEAR - 1, ">= ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(times_are_cut_not_rounded),
		cmocka_unit_test(unknown_keys_are_named), cmocka_unit_test(ranges_have_units)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
