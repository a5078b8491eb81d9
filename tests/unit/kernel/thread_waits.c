/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/thread_waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "fake_root.h"
#include "unit_test.h"

static struct thread_wait wait_in(const char *tree)
{
	char *root = fake_root_make(tree);
	struct kernel_seam kernel = *kernel_seam_linux();
	kernel.root = root;
	struct thread_wait wait = thread_waits_read(&kernel, 7);
	fake_root_remove(root);
	return wait;
}

static void reads_a_thread_that_waits(void **state)
{
	struct thread_wait wait =
		wait_in("/proc/7/task/7/stat: 7 (a) b (c) S 1 7 7 0 -1 4194304 0 0\n"
			"/proc/7/status: Name:\ta\\nTgid:\t5\\nPid:\t7\\nvoluntary_ctxt_switches:\t40\\n"
			"nonvoluntary_ctxt_switches:\t2\n"
			"/proc/7/syscall: 202 0x1 0x2 0x3 0x4 0x5 0x6 0x7ffc00000010 0x7f0000001234\n");
	assert_true(wait.exists && wait.is_waiting && !wait.is_kernel);
	assert_int_equal(wait.state, 'S');
	assert_int_equal(wait.pid, 5);
	assert_int_equal(wait.syscall, 202);
	assert_int_equal(wait.ip, 0x7f0000001234);
	assert_int_equal(wait.sp, 0x7ffc00000010);
	assert_int_equal(wait.switches, 42);
}

static void names_the_call_that_goes_on(void **state)
{
	char tree[256];
	static const struct {
		const char *function;
		int syscall;
	} cases[] = {{"futex_do_wait", SYS_futex}, {"hrtimer_nanosleep", SYS_clock_nanosleep},
#ifdef SYS_poll
		{"do_poll.constprop.0", SYS_poll},
#endif
		{"0", SYS_restart_syscall}, {"do_wait", SYS_restart_syscall}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(tree, sizeof(tree),
			"/proc/7/task/7/stat: 7 (x) S 1 7 7 0 -1 0 0\n/proc/7/syscall: %d 0x1 0x7ffc00000010 "
			"0x401000\n/proc/7/wchan: %s\n",
			(int)SYS_restart_syscall, cases[i].function);
		assert_int_equal(wait_in(tree).syscall, cases[i].syscall);
	}
}

static void tells_who_runs_or_is_of_the_kernel(void **state)
{
	struct thread_wait wait = wait_in("/proc/7/task/7/stat: 7 (x) R 1 7 7 0 -1 4194304 0\n"
					  "/proc/7/status: Tgid:\t7\n"
					  "/proc/7/syscall: running\n");
	assert_true(wait.exists && !wait.is_waiting);
	assert_int_equal(wait.syscall, -1);
	wait = wait_in("/proc/7/task/7/stat: 7 (kworker/0:1) I 2 0 0 0 -1 69238880 0\n");
	assert_true(wait.exists && wait.is_kernel);
	wait = wait_in("/proc/7/task/7/stat: 7 (x) S 1 7 7 0 -1 0 0\n/proc/7/syscall: -1 0x7ffc00000010 0x401000\n");
	assert_int_equal(wait.syscall, -1);
	assert_int_equal(wait.ip, 0x401000);
}

static void takes_nothing_for_granted(void **state)
{
	static const char *const trees[] = {"/proc/7/other: x\n", "/proc/7/task/7/stat: x\n",
		"/proc/7/task/7/stat: 7 (x)\n", "/proc/7/task/7/stat: )\n", "/proc/7/task/7/stat: 7 (x) \n"};
	for (size_t i = 0; i < sizeof(trees) / sizeof(*trees); i++)
		assert_false(wait_in(trees[i]).exists);
	struct thread_wait wait = wait_in("/proc/7/task/7/stat: 7 (x) S 1\n"
					  "/proc/7/status: Tgid:\tmany\\nno colon\n"
					  "/proc/7/syscall: 99999999999 0xzz\n");
	assert_true(wait.exists && wait.is_waiting);
	assert_int_equal(wait.syscall, -1);
	assert_int_equal(wait.ip, 0);
	assert_int_equal(wait.pid, 0);
	assert_true(wait.switches == UINT64_MAX);
	/* With only one of the two counts, the sum is unknown. */
	wait = wait_in("/proc/7/task/7/stat: 7 (x) S 1\n/proc/7/status: voluntary_ctxt_switches:\t40\n");
	assert_true(wait.switches == UINT64_MAX);
	assert_true(thread_waits_switches(kernel_seam_linux(), 0) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_thread_that_waits),
		cmocka_unit_test(names_the_call_that_goes_on),
		cmocka_unit_test(tells_who_runs_or_is_of_the_kernel),
		cmocka_unit_test(takes_nothing_for_granted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
