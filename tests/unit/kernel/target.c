/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/target.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/bytes.h"
#include "fake_root.h"
#include "kernel/system/cpu_topology.h"
#include "unit_test.h"

static struct kernel_seam seam;

static int root_setup(void **state)
{
	*state = fake_root_load("vm-without-pmu");
	seam.root = *state;
	return 0;
}

static int root_teardown(void **state)
{
	fake_root_remove(*state);
	return 0;
}

static void processes_become_threads(void **state)
{
	struct target_request request = {.pids = "20,12,20"};
	struct target target;
	struct tally_error err;
	assert_int_equal(target_resolve(&seam, &request, &target, &err), TALLY_OK);
	assert_int_equal(target.thread_count, 3);
	assert_int_equal(target.threads[0], 12);
	assert_int_equal(target.threads[1], 14);
	assert_int_equal(target.threads[2], 20);
	assert_int_equal(target.cpus[0], -1);
	assert_string_equal(target.label, "process id '20,12,20'");
	assert_int_equal(target_spread_over_cpus(&seam, &target, &err), TALLY_OK);
	assert_int_equal(target.cpu_count, 2);
	target_deinit(&target);
}

static void a_users_processes_are_found(void **state)
{
	struct target_request request = {.user = "1000"};
	struct target target;
	struct tally_error err;
	assert_int_equal(target_resolve(&seam, &request, &target, &err), TALLY_OK);
	assert_int_equal(target.thread_count, 2);
	target_deinit(&target);
	request.user = "4711";
	assert_int_equal(target_resolve(&seam, &request, &target, &err), TALLY_NOT_FOUND);
	request.user = "no-such-user-here";
	assert_int_equal(target_resolve(&seam, &request, &target, &err), TALLY_NOT_FOUND);
	assert_non_null(strstr(err.text, "no user 'no-such-user-here'"));
}

static void wrong_targets_are_named(void **state)
{
	static const struct {
		struct target_request request;
		enum tally_status status;
		const char *words;
	} cases[] = {
		{{.pids = "99999999"}, TALLY_NOT_FOUND, "no process 99999999"},
		{{.pids = "abc"}, TALLY_NOT_FOUND, "'abc' is not a process id"},
		{{.pids = "0"}, TALLY_NOT_FOUND, "'0' is not a process id"},
		{{.pids = ",12"}, TALLY_NOT_FOUND, "'' is not a process id"},
		{{.pids = ""}, TALLY_NOT_FOUND, "no process id"},
		{{.tids = "15"}, TALLY_NOT_FOUND, "no thread 15"},
		{{.cpus = "7"}, TALLY_NOT_FOUND, "no CPU 7 is online"},
		{{.cpus = "9,2-4,7"}, TALLY_NOT_FOUND, "no CPU 2-4,7,9 is online"},
		{{.cpus = "1-0"}, TALLY_INVALID, "runs backwards"},
		{{.cpus = "x"}, TALLY_INVALID, "'x' is not a CPU"},
		{{.cpus = "0-"}, TALLY_INVALID, "'0-'"},
		{{.cpus = "99999999999"}, TALLY_LIMIT, "out of range"},
		{{0}, TALLY_INVALID, "nothing to measure"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct target target = {0};
		struct tally_error err;
		enum tally_status status = target_resolve(&seam, &cases[i].request, &target, &err);
		if (status != cases[i].status || !strstr(err.text, cases[i].words))
			fail_msg("case %zu: %d %s", i, (int)status, status == TALLY_OK ? "" : err.text);
	}
}

static void threads_win_over_cpus(void **state)
{
	struct target_request request = {.tids = "12", .cpus = "0"};
	struct target target;
	struct tally_error err;
	assert_int_equal(target_resolve(&seam, &request, &target, &err), TALLY_OK);
	assert_true(target.is_overriding);
	assert_false(target.is_system_wide);
	assert_int_equal(target.cpus[0], -1);
	target_deinit(&target);
}

static void cpus_that_are_not_online_are_left_out(void **state)
{
	struct target_request request = {.cpus = "1-3,9"};
	struct target target;
	assert_int_equal(target_resolve(&seam, &request, &target, NULL), TALLY_OK);
	assert_int_equal(target.cpu_count, 1);
	assert_int_equal(target.measured_count, 1);
	assert_int_equal(target.cpus[0], 1);
	assert_string_equal(target.offline, "2-3,9");
	assert_string_equal(target.label, "'CPU(s) 1-3,9'");
	target_deinit(&target);
	request.cpus = "0-1";
	assert_int_equal(target_resolve(&seam, &request, &target, NULL), TALLY_OK);
	assert_null(target.offline);
	target_deinit(&target);
}

static void other_cpus_come_behind_those_that_are_measured(void **state)
{
	struct target_request request = {.cpus = "1"};
	struct target target;
	assert_int_equal(target_resolve(&seam, &request, &target, NULL), TALLY_OK);
	assert_int_equal(target.measured_count, 1);
	assert_int_equal(target_add_other_cpus(&seam, &target, NULL), TALLY_OK);
	assert_int_equal(target.cpu_count, 2);
	assert_int_equal(target.measured_count, 1);
	assert_int_equal(target.cpus[0], 1);
	assert_int_equal(target.cpus[1], 0);
	target_deinit(&target);
}

static void cpu_lists_are_sorted_and_unique(void **state)
{
	int *cpus;
	size_t count;
	struct tally_error err;
	assert_int_equal(cpu_list_parse(STR("8, 0-2,1"), &cpus, &count, &err), TALLY_OK);
	assert_int_equal(count, 4);
	assert_int_equal(cpus[3], 8);
	assert_true(cpu_list_has(cpus, count, 2));
	assert_false(cpu_list_has(cpus, count, 3));
	free(cpus);
	assert_int_equal(cpu_list_parse(STR(""), &cpus, &count, &err), TALLY_OK);
	assert_int_equal(count, 0);
	free(cpus);
}

int main(void)
{
#define WITH_ROOT(test) cmocka_unit_test_setup_teardown(test, root_setup, root_teardown)
	const struct CMUnitTest tests[] = {
		WITH_ROOT(processes_become_threads),
		WITH_ROOT(a_users_processes_are_found),
		WITH_ROOT(wrong_targets_are_named),
		WITH_ROOT(threads_win_over_cpus),
		WITH_ROOT(cpus_that_are_not_online_are_left_out),
		WITH_ROOT(other_cpus_come_behind_those_that_are_measured),
		cmocka_unit_test(cpu_lists_are_sorted_and_unique),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
