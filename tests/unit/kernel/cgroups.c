/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/cgroups.h"

#include "base/array.h"
#include "unit_test.h"

static void test_mount_point(void **state)
{
	static const struct {
		const char *mounts, *place;
	} cases[] = {
		{"", ""},
		{"proc /proc proc rw 0 0\n", ""},
		{"c /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n", "/sys/fs/cgroup"},
		{"a /sys/fs/cgroup/unified cgroup2 rw 0 0\nb /sys/fs/cgroup/perf cgroup rw,perf_event 0 0\n",
			"/sys/fs/cgroup/perf"},
		{"b /c/cpu cgroup rw,cpu,perf_events 0 0\na /c/unified cgroup2 rw\n", "/c/unified"},
		{"cgroup2\ncgroup2 /x\nx y cgroup2", ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_true(str_equal(cgroups_mount_point(str_from(cases[i].mounts)), str_from(cases[i].place)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mount_point),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
