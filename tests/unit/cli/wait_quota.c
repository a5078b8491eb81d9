/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/wait_quota.h"

#include "fake_root.h"
#include "unit_test.h"

#define PROC_V1                                                                                             \
	"/proc/self/mounts: tmpfs /sys/fs/cgroup tmpfs rw 0 0\\ncgroup /cg/cpu cgroup rw,cpu,cpuacct 0 0\n" \
	"/proc/7/cgroup: 5:memory:/other\\n4:cpu,cpuacct:/pod/box\n"

static void look_at(struct wait_quota *quota, const char *tree)
{
	struct kernel_seam kernel = *kernel_seam_linux();
	char *root = fake_root_make(tree);
	kernel.root = root;
	quota->kernel = &kernel;
	wait_quota_look(quota);
	quota->kernel = NULL;
	fake_root_remove(root);
}

/* Only throttling during the observation counts, including that by quotas of parent cgroups. */
static void sums_what_cpu_stat_grows_by(void **state)
{
	struct wait_quota quota = {0};
	wait_quota_add(&quota, 7);
	wait_quota_add(&quota, 7);
	look_at(&quota, PROC_V1 "/cg/cpu/pod/box/cpu.stat: nr_periods 5\\nnr_throttled 2\\nthrottled_time 1000\n"
				"/cg/cpu/pod/cpu.stat: throttled_time 50\n");
	assert_int_equal(quota.groups.len, 2);
	assert_int_equal(wait_quota_ns(&quota), 0);
	look_at(&quota, PROC_V1 "/cg/cpu/pod/box/cpu.stat: nr_periods 9\\nnr_throttled 3\\nthrottled_time 1600\n"
				"/cg/cpu/pod/cpu.stat: throttled_time 60\n");
	assert_int_equal(wait_quota_ns(&quota), 610);
	/* The process has ended, and its cgroup is gone. */
	look_at(&quota, "/proc/self/mounts: x\n/cg/cpu/pod/cpu.stat: throttled_time 70\n");
	assert_int_equal(wait_quota_ns(&quota), 620);
	wait_quota_deinit(&quota);
}

static void version_2_counts_microseconds(void **state)
{
	struct wait_quota quota = {0};
	wait_quota_add(&quota, 7);
	look_at(&quota, "/proc/self/mounts: cgroup2 /cg cgroup2 rw 0 0\n/proc/7/cgroup: 0::/box\n"
			"/cg/box/cpu.stat: usage_usec 9\\nthrottled_usec 3\n");
	look_at(&quota, "/proc/7/cgroup: 0::/box\n/cg/box/cpu.stat: usage_usec 9\\nthrottled_usec 5\n");
	assert_int_equal(wait_quota_ns(&quota), 2000);
	wait_quota_deinit(&quota);
}

static void nothing_is_known_without_files(void **state)
{
	static const char *const trees[] = {"/proc/version: x\n",
		"/proc/self/mounts: cgroup2 /cg cgroup2 rw 0 0\n/proc/7/cgroup: 0::/box\n",
		"/proc/self/mounts: cgroup2 /cg cgroup2 rw 0 0\n/proc/7/cgroup: x\\n0:\\n::\n/cg/cpu.stat: "
		"throttled_usec 1\n",
		"/proc/self/mounts: cgroup2 /cg cgroup2 rw 0 0\n/proc/7/cgroup: 0::/box\n/cg/box/cpu.stat: "
		"throttled_usec x\n"};
	for (size_t i = 0; i < sizeof(trees) / sizeof(*trees); i++) {
		struct wait_quota quota = {0};
		wait_quota_add(&quota, 7);
		wait_quota_add(&quota, 0);
		look_at(&quota, trees[i]);
		assert_int_equal(quota.groups.len, 0);
		assert_int_equal(wait_quota_ns(&quota), 0);
		wait_quota_deinit(&quota);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_what_cpu_stat_grows_by),
		cmocka_unit_test(version_2_counts_microseconds),
		cmocka_unit_test(nothing_is_known_without_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
