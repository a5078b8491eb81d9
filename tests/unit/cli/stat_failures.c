/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/counts/stat_failures.h"

#include <signal.h>
#include <string.h>

#include "unit_test.h"

#define EXITED(code) ((code) << 8) /* The status format of waitpid. */

static void expect_told(const struct stat_failures *failures, const char *told)
{
	struct text t = {0};
	stat_failures_tell(&t, failures);
	text_char(&t, '\0');
	assert_false(t.failed);
	assert_string_equal(t.data, told);
	text_deinit(&t);
}

static void each_way_to_fail_is_told_once(void **state)
{
	struct stat_failures failures = {0};
	stat_failures_add(&failures, EXITED(0));
	assert_int_equal(failures.failed, 0);
	stat_failures_add(&failures, EXITED(1));
	stat_failures_add(&failures, SIGKILL);
	stat_failures_add(&failures, EXITED(1));
	assert_int_equal(failures.runs, 4);
	assert_int_equal(failures.failed, 3);
	assert_int_equal(failures.last_status, EXITED(1));
	assert_false(stat_failures_is_hopeless(&failures));
	expect_told(&failures, "3 of 4 runs failed: exit status 1, signal 9, Killed");
}

static void what_a_shell_cannot_run_never_will(void **state)
{
	struct stat_failures absent = {0}, refused = {0};
	stat_failures_add(&absent, EXITED(127));
	assert_true(stat_failures_is_hopeless(&absent));
	expect_told(&absent, "1 of 1 runs failed: exit status 127, command not found");
	stat_failures_add(&refused, EXITED(126));
	assert_true(stat_failures_is_hopeless(&refused));
	expect_told(&refused, "1 of 1 runs failed: exit status 126, command cannot be run");
}

static void there_is_room_for_few_ways(void **state)
{
	struct stat_failures failures = {0};
	for (int code = 1; code <= STAT_FAILURE_KINDS + 1; code++)
		stat_failures_add(&failures, EXITED(code));
	assert_int_equal(failures.kind_count, STAT_FAILURE_KINDS);
	assert_int_equal(failures.failed, STAT_FAILURE_KINDS + 1);
	struct text t = {0};
	stat_failures_tell(&t, &failures);
	assert_true(t.len > 11 && memcmp(t.data + t.len - 11, " and others", 11) == 0);
	text_deinit(&t);
}

static void expect_json(int status, const char *expected)
{
	struct stat_failures failures = {0};
	struct text t = {0};
	struct json json = {.out = &t, .is_compact = true};
	stat_failures_add(&failures, EXITED(0));
	stat_failures_add(&failures, status);
	json_object(&json, NULL);
	stat_failures_json(&json, &failures);
	json_object_end(&json);
	text_char(&t, '\0');
	assert_false(t.failed);
	if (!strstr(t.data, expected))
		fail_msg("'%s' does not have '%s'", t.data, expected);
	text_deinit(&t);
}

static void json_has_the_status_of_a_shell(void **state)
{
	expect_json(EXITED(7), "\"failures\": {\"runs\": 2,\"failed\": 1,\"exit-status\": 7,\"reason\"");
	expect_json(SIGSEGV, "\"exit-status\": 139,\"signal\": 11,\"reason\": \"1 of 2 runs failed: signal 11");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_way_to_fail_is_told_once),
		cmocka_unit_test(what_a_shell_cannot_run_never_will),
		cmocka_unit_test(there_is_room_for_few_ways),
		cmocka_unit_test(json_has_the_status_of_a_shell),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
