/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/filter.h"

#include "profile_text.h"
#include "unit_test.h"

static const char text[] = "event cycles\n"
			   "cc 7/7 0 0 1 main@cc;hot@libx.so\n"
			   "cc 7/8 0 0 1 main@cc;0x20@cc\n"
			   "ld 9/9 0 0 1 main@ld;hot@libx.so\n"
			   "ld 9/9 0 0 1 0x55\n";

/* expected has a digit for each of the four samples: "1100" if the first two pass. */
static void assert_passes(const struct profile_filter_lists *lists, const char *expected)
{
	struct profile *p = profile_from_text(text);
	struct profile_filter filter;
	struct tally_error err;
	char passes[5] = "";
	assert_int_equal(profile_filter_init(&filter, p, lists, &err), TALLY_OK);
	for (size_t i = 0; i < p->sample_count; i++)
		passes[i] = profile_filter_passes(&filter, &p->samples[i]) ? '1' : '0';
	assert_string_equal(passes, expected);
	profile_filter_deinit(&filter);
	profile_destroy(p);
}

static void lists_pass_what_they_name(void **state)
{
	assert_passes(&(struct profile_filter_lists){0}, "1111");
	assert_passes(&(struct profile_filter_lists){.comms = ""}, "1111");
	assert_passes(&(struct profile_filter_lists){.comms = "cc"}, "1100");
	assert_passes(&(struct profile_filter_lists){.comms = "cc, ld"}, "1111");
	assert_passes(&(struct profile_filter_lists){.pids = "9"}, "0011");
	assert_passes(&(struct profile_filter_lists){.tids = "8,9"}, "0111");
	assert_passes(&(struct profile_filter_lists){.dsos = "libx.so"}, "1010");
	assert_passes(&(struct profile_filter_lists){.dsos = "[unknown]"}, "0001");
	assert_passes(&(struct profile_filter_lists){.symbols = "hot,none"}, "1010");
	assert_passes(&(struct profile_filter_lists){.symbols = "hot", .comms = "ld"}, "0010");
	assert_passes(&(struct profile_filter_lists){.symbol_part = "ho"}, "1111");
}

/* In a profile without levels of parallelism, no sample passes a filter on it. */
static void parallelism_needs_its_values(void **state)
{
	const bool levels[] = {false, true};
	assert_passes(&(struct profile_filter_lists){.parallelism = levels, .parallelism_limit = 2}, "0000");
}

static void symbol_part_chooses_rows(void **state)
{
	struct profile *p = profile_from_text(text);
	struct profile_filter filter;
	struct tally_error err;
	assert_int_equal(
		profile_filter_init(&filter, p, &(struct profile_filter_lists){.symbol_part = "ho"}, &err), TALLY_OK);
	for (size_t i = 0; i < p->sample_count; i++)
		assert_int_equal(filter.frame_shows[p->samples[i].leaf], i % 2 == 0);
	profile_filter_deinit(&filter);
	profile_destroy(p);
}

static void bad_ids_are_refused(void **state)
{
	struct profile *p = profile_from_text(text);
	struct profile_filter filter;
	struct tally_error err;
	assert_int_equal(
		profile_filter_init(&filter, p, &(struct profile_filter_lists){.pids = "7x"}, &err), TALLY_INVALID);
	assert_string_equal(err.text, "'7x' is not a process or thread id");
	assert_int_equal(profile_filter_init(&filter, p, &(struct profile_filter_lists){.tids = "99999999999"}, &err),
		TALLY_INVALID);
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_pass_what_they_name),
		cmocka_unit_test(parallelism_needs_its_values),
		cmocka_unit_test(symbol_part_chooses_rows),
		cmocka_unit_test(bad_ids_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
