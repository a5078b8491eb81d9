/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the memory available within limits, on fake roots. */
#include "kernel/system/memory_limit.h"

#include "fake_root.h"
#include "unit_test.h"

#define MB UINT64_C(1048576)

static void check(const char *files, uint64_t wanted)
{
	char *root = fake_root_make(files);
	assert_int_equal(memory_limit_left(root), wanted);
	fake_root_remove(root);
}

#define MACHINE "/proc/meminfo: MemTotal:       8388608 kB\\nMemAvailable:    4194304 kB\n"

static void test_the_machine_is_the_last_limit(void **state)
{
	(void)state;
	check(MACHINE, 4096 * MB);
	check("/proc/version: x\n", UINT64_MAX);
	check("/proc/meminfo: MemAvailable: none\n", UINT64_MAX);
}

static void test_groups_of_version_2(void **state)
{
	(void)state;
	/* The group has no limit, but its parent has; file pages of the group can be reclaimed. */
	check(MACHINE "/proc/self/cgroup: 0::/a/b\n"
		      "/sys/fs/cgroup/a/b/memory.max: max\n"
		      "/sys/fs/cgroup/a/b/memory.current: 1048576\n"
		      "/sys/fs/cgroup/a/memory.max: 67108864\n"
		      "/sys/fs/cgroup/a/memory.current: 20971520\n"
		      "/sys/fs/cgroup/a/memory.stat: anon 1\\ninactive_file 8388608\\nactive_file 2097152\n",
		54 * MB);
	/* In a cgroup namespace, the group is mounted at the root, although its name is a different one. */
	check(MACHINE "/proc/self/cgroup: 0::/elsewhere\n"
		      "/sys/fs/cgroup/memory.max: 67108864\n"
		      "/sys/fs/cgroup/memory.current: 16777216\n",
		48 * MB);
	check(MACHINE "/proc/self/cgroup: 0::/\n"
		      "/sys/fs/cgroup/memory.max: 1048576\n"
		      "/sys/fs/cgroup/memory.current: 16777216\n",
		0);
}

static void test_groups_of_version_1(void **state)
{
	(void)state;
	check(MACHINE "/proc/self/cgroup: 9:cpu:/x\\n4:memory,hugetlb:/a\\n0::/\n"
		      "/sys/fs/cgroup/memory/a/memory.limit_in_bytes: 67108864\n"
		      "/sys/fs/cgroup/memory/a/memory.usage_in_bytes: 33554432\n"
		      "/sys/fs/cgroup/memory/a/memory.stat: cache 9\\ntotal_inactive_file 1048576\\ntotal_active_file "
		      "1048576\n"
		      "/sys/fs/cgroup/memory/memory.limit_in_bytes: 9223372036854771712\n"
		      "/sys/fs/cgroup/memory/memory.usage_in_bytes: 99999999999\n",
		34 * MB);
	/* The group of another controller is irrelevant. */
	check(MACHINE "/proc/self/cgroup: 9:cpu:/x\n"
		      "/sys/fs/cgroup/memory/x/memory.limit_in_bytes: 4096\n"
		      "/sys/fs/cgroup/memory/x/memory.usage_in_bytes: 1\n",
		4096 * MB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_machine_is_the_last_limit),
		cmocka_unit_test(test_groups_of_version_2),
		cmocka_unit_test(test_groups_of_version_1),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
