/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ftrace/duration_histogram.h"
#include "analysis/ftrace/function_sums.h"
#include "analysis/ftrace/graph_line.h"
#include "base/array.h"
#include "unit_test.h"

static void lines_have_durations_and_names(void **state)
{
	static const struct {
		const char *line;
		uint64_t ns;
		const char *name;
	} cases[] = {
		{" 0)   0.500 us    |    get_timespec64();", 500, "get_timespec64"},
		{" 0) # 1062.100 us |      }", 1062100, ""},
		{" 1) $ 2113500.1 us |    mutex_lock();", 2113500100, "mutex_lock"},
		{" 1) + 13.5 us | } /* do_exit */", 13500, "do_exit"},
		{" 1) ! 113 us | } /* nft_do_chain [nf_tables] */", 113000, "nft_do_chain"},
		{" 1)   1.000 us | } /* vfs_read ret=0x10 */", 1000, "vfs_read"},
		{" 1)   1.000 us | nf_hook [nf_tables]();", 1000, "nf_hook"},
		{" 1)   1.000 us | vfs_read(file=0xff, count=1); /* = 0x0 */", 1000, "vfs_read"},
		{" 2020.776767 |   1)  sleep|x-1  | d..1. |   0.044 us    |  } /* do_exit = 0x0 */", 44, "do_exit"},
		{"9.9999 us|f();", 9999, "f"},
		{"18446744073709551 us|f();", 18446744073709551000u, "f"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct graph_line call;
		assert_true(graph_line_read(str_from(cases[i].line), &call));
		assert_int_equal(call.ns, cases[i].ns);
		assert_true(str_equal(call.name, str_from(cases[i].name)));
	}
}

static void other_lines_have_none(void **state)
{
	static const char *const lines[] = {
		"",
		" 0)               |  __x64_sys_clock_nanosleep() {",
		" ------------------------------------------",
		" 0)  sleep-123    =>  sleep-124",
		"CPU:1 [LOST 14 EVENTS]",
		"# CPU  DURATION                  FUNCTION CALLS",
		" 0) us | f();",
		" 0) . us | f();",
		" 0) 1.2.3 us | f();",
		" 0) 18446744073709552 us | f();",
		" 0) 99999999999999999999 us | f();",
		"|",
		" us|",
	};
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct graph_line call;
		assert_false(graph_line_read(str_from(lines[i]), &call));
	}
	assert_int_equal(graph_line_lost(STR("CPU:1 [LOST 14 EVENTS]")), 14);
	assert_int_equal(graph_line_lost(STR("CPU:1 [LOST EVENTS]")), 0);
	assert_int_equal(graph_line_lost(STR("CPU:1 [LOST 99999999999999999999999 EVENTS]")), 0);
	assert_int_equal(graph_line_lost(STR(" [LOST 14 EVENTS]")), 0);
}

static void check_bucket(const struct duration_scale *scale, uint64_t ns, uint64_t from_ns, uint64_t to_ns)
{
	size_t index = duration_bucket_of(scale, ns);
	struct duration_bucket bucket = duration_bucket_at(scale, index);
	assert_true(index < duration_bucket_count(scale));
	assert_int_equal(bucket.from_ns, from_ns);
	if (!bucket.is_last)
		assert_int_equal(bucket.to_ns, to_ns);
	assert_int_equal(bucket.is_last, to_ns == 0);
}

static void durations_are_in_their_bucket(void **state)
{
	const struct duration_scale doubling = {0}, fine = {.in_ns = true}, equal = {.range = 100};
	const struct duration_scale from = {.range = 100, .min = 50, .max = 700};
	check_bucket(&doubling, 999, 0, 1000);
	check_bucket(&doubling, 1000, 1000, 2000);
	check_bucket(&doubling, 13500, 8000, 16000);
	check_bucket(&doubling, 1024000, 1024000, 2048000);
	check_bucket(&doubling, UINT64_MAX, (uint64_t)1000 << 20, 0);
	check_bucket(&fine, 0, 0, 1);
	check_bucket(&fine, 500, 256, 512);
	check_bucket(&equal, 99999, 0, 100000);
	check_bucket(&equal, 100000, 100000, 200000);
	check_bucket(&equal, 9000000, 2100000, 0);
	check_bucket(&from, 49999, 0, 50000);
	check_bucket(&from, 50000, 50000, 150000);
	check_bucket(&from, 650000, 650000, 0);
	assert_int_equal(duration_bucket_count(&from), 8);
}

static void histograms_refuse_scales_without_buckets(void **state)
{
	struct duration_histogram h;
	struct tally_error err;
	const struct duration_scale narrow = {.range = 1000, .min = 2, .max = 10}, many = {.range = 1, .max = 1000000};
	assert_int_equal(duration_histogram_init(&h, &narrow, &err), TALLY_INVALID);
	assert_int_equal(duration_histogram_init(&h, &many, &err), TALLY_INVALID);
	assert_int_equal(duration_histogram_init(&h, &(struct duration_scale){0}, &err), TALLY_OK);
	duration_histogram_add(&h, 1500);
	duration_histogram_add(&h, 500);
	assert_int_equal(h.counts[0], 1);
	assert_int_equal(h.counts[1], 1);
	assert_int_equal(h.total_ns, 2000);
	assert_int_equal(h.min_ns, 500);
	assert_int_equal(h.max_ns, 1500);
	duration_histogram_deinit(&h);
}

static void check_first(struct function_sums *sums, enum function_sort sort, const char *name)
{
	function_sums_sort(sums, sort);
	assert_string_equal(sums->rows.items[0].name.data, name);
}

static void functions_add_up_and_sort(void **state)
{
	struct function_sums sums;
	function_sums_init(&sums);
	assert_true(function_sums_add(&sums, STR("total"), 40));
	assert_true(function_sums_add(&sums, STR("total"), 41));
	assert_true(function_sums_add(&sums, STR("max"), 60));
	assert_true(function_sums_add(&sums, STR("max"), 1));
	assert_true(function_sums_add(&sums, STR("avg"), 45));
	for (int i = 0; i < 5; i++)
		assert_true(function_sums_add(&sums, STR("count"), 1));
	assert_int_equal(sums.rows.len, 4);
	check_first(&sums, FUNCTION_SORT_TOTAL, "total");
	check_first(&sums, FUNCTION_SORT_MAX, "max");
	check_first(&sums, FUNCTION_SORT_AVG, "avg");
	check_first(&sums, FUNCTION_SORT_COUNT, "count");
	check_first(&sums, FUNCTION_SORT_NAME, "avg");
	function_sums_deinit(&sums);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_have_durations_and_names),
		cmocka_unit_test(other_lines_have_none),
		cmocka_unit_test(durations_are_in_their_bucket),
		cmocka_unit_test(histograms_refuse_scales_without_buckets),
		cmocka_unit_test(functions_add_up_and_sort),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
