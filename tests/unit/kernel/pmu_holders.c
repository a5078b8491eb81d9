/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/pmu_holders.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake_root.h"
#include "unit_test.h"

static void link_fd(const char *root, int pid, int fd, const char *target)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/proc/%d/fd/%d", root, pid, fd);
	assert_int_equal(symlink(target, path), 0);
}

static void processes_with_open_events(void **state)
{
	char *root = fake_root_make("/proc/7/comm: watcher\\n\n/proc/7/fd/: \n"
				    "/proc/8/comm: idle\\n\n/proc/8/fd/: \n"
				    "/proc/9/fd/: \n"
				    "/proc/10/comm: closed\\n\n"
				    "/proc/self/fd/: \n/proc/99999999999/fd/: \n");
	struct kernel_seam seam = {.root = root};
	struct pmu_holders holders;
	link_fd(root, 7, 0, "/dev/null");
	link_fd(root, 7, 3, "anon_inode:[perf_event]");
	link_fd(root, 7, 4, "anon_inode:[perf_event]");
	link_fd(root, 8, 0, "anon_inode:[eventfd]");
	link_fd(root, 9, 5, "anon_inode:[perf_event]");
	assert_int_equal(pmu_holders_find(&seam, &holders, NULL), TALLY_OK);
	assert_int_equal(holders.len, 2);
	assert_int_equal(holders.unseen, 1); /* Process 10, whose file descriptors are not readable. */
	const struct pmu_holder *watcher = &holders.items[holders.items[0].pid == 7 ? 0 : 1];
	const struct pmu_holder *nameless = &holders.items[holders.items[0].pid == 7 ? 1 : 0];
	assert_int_equal(watcher->pid, 7);
	assert_string_equal(watcher->comm, "watcher");
	assert_int_equal(watcher->events, 2);
	assert_int_equal(nameless->pid, 9);
	assert_string_equal(nameless->comm, "?");
	assert_int_equal(nameless->events, 1);
	pmu_holders_deinit(&holders);
	assert_int_equal(holders.len, 0);
	fake_root_remove(root);
}

static void without_proc_nobody_is_seen(void **state)
{
	char *root = fake_root_make("/sys/: \n");
	struct kernel_seam seam = {.root = root};
	struct pmu_holders holders;
	assert_int_equal(pmu_holders_find(&seam, &holders, NULL), TALLY_OK);
	assert_int_equal(holders.len, 0);
	assert_int_equal(holders.unseen, 0);
	pmu_holders_deinit(&holders);
	fake_root_remove(root);
}

static void watchdog(void **state)
{
	static const struct {
		const char *files;
		enum watchdog_state state;
	} cases[] = {{"/proc/: \n", WATCHDOG_UNKNOWN}, {"/proc/sys/kernel/nmi_watchdog: 0\n", WATCHDOG_OFF},
		{"/proc/sys/kernel/nmi_watchdog: 1\n", WATCHDOG_HOLDS_COUNTER}};
	for (size_t i = 0; i < 3; i++) {
		char *root = fake_root_make(cases[i].files);
		struct kernel_seam seam = {.root = root};
		assert_int_equal(watchdog_state(&seam), cases[i].state);
		fake_root_remove(root);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_with_open_events),
		cmocka_unit_test(without_proc_nobody_is_seen),
		cmocka_unit_test(watchdog),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
