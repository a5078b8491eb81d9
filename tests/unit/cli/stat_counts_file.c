/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_counts_file.h"

#include <string.h>

#include "unit_test.h"

#define LINE(event, value)                                                                                         \
	"{\"counter-value\" : \"" value "\", \"unit\" : \"\", \"event\" : \"" event "\", \"event-runtime\" : 12, " \
	"\"pcnt-running\" : 100.00, \"origin\" : {\"kind\" : \"simulated\", \"by\" : \"valgrind=3.19.0\", "        \
	"\"not_seen\" : "                                                                                          \
	"\"cycles\"}}\n"

static double value_of(const struct stat_counts_file *file, const char *benchmark, const char *event)
{
	const struct stat_counts_row *row = stat_counts_file_find(file, benchmark, str_from(event));
	return row ? row->value : -1;
}

static void counts_are_found_by_name(void **state)
{
	struct stat_counts_file file = {0};
	struct tally_error err;
	const char *text = LINE("instructions:u", "123456.000000") "\n" LINE("branches", "7.500000")
		LINE("l2-loads", "<not supported>") "{\"kind\": \"gate\",\"has-failed\": false}\n";
	assert_int_equal(stat_counts_file_parse(str_from(text), &file, &err), TALLY_OK);
	assert_string_equal(file.by, "valgrind=3.19.0");
	assert_true(value_of(&file, "", "instructions") == 123456);
	assert_true(value_of(&file, "", "branches:u") == 7.5);
	assert_true(value_of(&file, "", "l2-loads") == -1);
	assert_true(value_of(&file, "", "cycles") == -1);
	assert_true(value_of(&file, "other", "branches") == -1);
	/* Earlier versions wrote an empty name. */
	assert_int_equal(stat_counts_file_find(&file, "", STR("branches"))->runs, 1);
	assert_string_equal(file.fault, "");
	assert_false(file.has_environment);
	stat_counts_file_deinit(&file);
}

#define STORED(benchmark, more)                                                                                   \
	"{\"counter-value\" : \"100.0\", \"event\" : \"instructions\", \"origin\" : {\"kind\" : \"simulated\"}, " \
	"\"benchmark\" : \"" benchmark "\", \"runs\" : 3, \"deviation\" : 2.5, \"environment\" : {\"kernel\" : "  \
	"\"6.1\", \"variables-bytes\" : 1234}" more "}\n"

static void what_is_stored_beside_counts_is_read(void **state)
{
	struct stat_counts_file file = {0};
	struct tally_error err;
	const char *text = STORED("parse", "") STORED("print",
		", \"failures\" : {\"runs\" : 3, \"reason\" : \"1 of 3 runs failed: exit status 2\"}, \"warnings\" : "
		"[\"a\", {\"x\" : [1, 2]}]");
	assert_int_equal(stat_counts_file_parse(str_from(text), &file, &err), TALLY_OK);
	const struct stat_counts_row *row = stat_counts_file_find(&file, "parse", STR("instructions"));
	assert_non_null(row);
	assert_int_equal(row->runs, 3);
	assert_true(row->deviation == 2.5);
	assert_non_null(stat_counts_file_find(&file, "print", STR("instructions")));
	assert_string_equal(file.fault, "1 of 3 runs failed: exit status 2");
	assert_true(file.has_environment);
	assert_string_equal(file.environment.kernel, "6.1");
	assert_int_equal(file.environment.variables_bytes, 1234);
	stat_counts_file_deinit(&file);
}

static void a_warning_is_a_fault(void **state)
{
	struct stat_counts_file file = {0};
	struct tally_error err;
	const char *text = STORED("a", ", \"warnings\" : [\"not complete\", \"and more\"]");
	assert_int_equal(stat_counts_file_parse(str_from(text), &file, &err), TALLY_OK);
	assert_string_equal(file.fault, "not complete");
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
	expect_refused(LINE("instructions", "1") LINE("instructions:u", "1"), TALLY_INVALID, "two counts");
	expect_refused("{\"warnings\" : [\"a\"\n", TALLY_CORRUPT, "line 1");
	expect_refused("{\"counter-value\" : \"1\", \"event\" : \"a\", \"origin\" : {\"kind\" : \"simulated\"}, "
		       "\"runs\" : 0}\n",
		TALLY_CORRUPT, "no numbers");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_found_by_name),
		cmocka_unit_test(what_is_stored_beside_counts_is_read),
		cmocka_unit_test(a_warning_is_a_fault),
		cmocka_unit_test(other_files_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
