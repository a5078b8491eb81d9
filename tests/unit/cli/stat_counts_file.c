/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_counts_file.h"

#include <string.h>

#include "unit_test.h"

#define LINE(event, value)                                                                                         \
	"{\"counter-value\" : \"" value "\", \"unit\" : \"\", \"event\" : \"" event "\", \"event-runtime\" : 12, " \
	"\"pcnt-running\" : 100.00, \"origin\" : {\"kind\" : \"simulated\", \"by\" : \"valgrind=3.19.0\", "        \
	"\"not_seen\" : "                                                                                          \
	"\"cycles\"}}\n"

static void counts_are_found_by_name(void **state)
{
	struct stat_counts_file file = {0};
	struct tally_error err;
	double value;
	const char *text = LINE("instructions:u", "123456.000000") "\n" LINE("branches", "7.500000")
		LINE("l2-loads", "<not supported>") "{\"kind\": \"gate\",\"has-failed\": false}\n";
	assert_int_equal(stat_counts_file_parse(str_from(text), &file, &err), TALLY_OK);
	assert_string_equal(file.by, "valgrind=3.19.0");
	assert_true(stat_counts_file_find(&file, STR("instructions"), &value));
	assert_true(value == 123456);
	assert_true(stat_counts_file_find(&file, STR("branches:u"), &value));
	assert_true(value == 7.5);
	assert_false(stat_counts_file_find(&file, STR("l2-loads"), &value));
	assert_false(stat_counts_file_find(&file, STR("cycles"), &value));
	stat_counts_file_deinit(&file);
}

static void expect_refused(const char *text, enum tally_status status, const char *says)
{
	struct stat_counts_file file = {0};
	struct tally_error err;
	assert_int_equal(stat_counts_file_parse(str_from(text), &file, &err), status);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
	stat_counts_file_deinit(&file);
}

static void other_files_are_refused(void **state)
{
	expect_refused("", TALLY_INVALID, "it has no counts");
	expect_refused("{}\n", TALLY_INVALID, "it has no counts");
	expect_refused("instructions 5\n", TALLY_CORRUPT, "line 1 is no JSON object");
	expect_refused(LINE("instructions", "1.0") "{\"event\" : \n", TALLY_CORRUPT, "line 2 is no JSON object");
	expect_refused("{\"event\" : \"a\\", TALLY_CORRUPT, "line 1");
	expect_refused(
		"{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}}}}\n", TALLY_CORRUPT, "line 1");
	expect_refused("{\"event\" : \"cycles\", \"counter-value\" : \"1.0\"}\n", TALLY_INVALID, "not simulated");
	expect_refused(LINE("instructions", "much"), TALLY_CORRUPT, "no number");
	expect_refused(LINE("instructions", "nan"), TALLY_CORRUPT, "no number");
	expect_refused(LINE("instructions", "1e99"), TALLY_CORRUPT, "no number");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_found_by_name),
		cmocka_unit_test(other_files_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
