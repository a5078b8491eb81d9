/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/wait_calls.h"

#include <stdlib.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "fake_root.h"
#include "kernel/system/kernel_files.h"
#include "unit_test.h"

static struct wait_calls calls_in(const char *tree)
{
	char *root = fake_root_make(tree);
	struct kernel_seam kernel = *kernel_seam_linux();
	struct wait_calls calls = {0};
	char *kallsyms;
	kernel.root = root;
	if (kernel_text(&kernel, &kallsyms, NULL, "/proc/kallsyms") == TALLY_OK) {
		wait_calls_read(&calls, str_from(kallsyms));
		free(kallsyms);
	}
	fake_root_remove(root);
	return calls;
}

static void finds_calls_in_stacks(void **state)
{
	struct wait_calls calls = calls_in("/proc/kallsyms: ffffffff81000000 T _text\\n"
					   "ffffffff81001000 T io_schedule\\n"
					   "ffffffff81001100 t other\\n"
					   "ffffffff81002000 T __x64_sys_futex\\n"
					   "ffffffff81002000 T __se_sys_futex\\n"
					   "ffffffff81003000 T __x64_sys_read\\n"
					   "ffffffff81003100 T __x64_sys_getpid\\n"
					   "ffffffffc0000000 t __arm64_sys_fsync\\t[module]\\n");
	const uint64_t futex[] = {0xffffffff81001110, 0xffffffff81002010, 0xffffffff81000010};
	const uint64_t disk[] = {0xffffffff810010ff, 0xffffffff81003000};
	const uint64_t none[] = {0x10, 0xffffffff81003100, 0xffffffffc0000001, UINT64_MAX};
	bool is_disk;
	assert_int_equal(wait_calls_find(&calls, futex, ARRAY_LEN(futex), &is_disk), SYS_futex);
	assert_false(is_disk);
	assert_int_equal(wait_calls_find(&calls, disk, ARRAY_LEN(disk), &is_disk), SYS_read);
	assert_true(is_disk);
	assert_int_equal(wait_calls_find(&calls, none, ARRAY_LEN(none), &is_disk), -1);
	assert_false(is_disk);
	wait_calls_deinit(&calls);
}

/* The first stack has only the function that does the work of read; in the second, the outermost function decides. */
static void finds_calls_by_their_workers(void **state)
{
	struct wait_calls calls = calls_in("/proc/kallsyms: ffffffff81001000 T ksys_read\\n"
					   "ffffffff81002000 T do_readv\\n"
					   "ffffffff81003000 T __x64_sys_preadv2\\n"
					   "ffffffff81004000 T __x64_sys_splice\\n"
					   "ffffffff81005000 T end\\n");
	const uint64_t jumped[] = {0xffffffff81001010, 0xffffffff81005010},
		       called[] = {0xffffffff81002010, 0xffffffff81004010};
	bool is_disk;
	(void)state;
	assert_int_equal(wait_calls_find(&calls, jumped, ARRAY_LEN(jumped), &is_disk), SYS_read);
	assert_int_equal(wait_calls_find(&calls, called, ARRAY_LEN(called), &is_disk), SYS_splice);
	wait_calls_deinit(&calls);
}

static void finds_what_a_restarted_call_is(void **state)
{
	static const char kallsyms[] = "ffffffff81000000 t __pfx_futex_wait_restart\n"
				       "ffffffff81001000 t futex_wait_restart\n"
				       "ffffffff81002000 t do_restart_poll\n"
				       "ffffffff81003000 t hrtimer_nanosleep_restart\n"
				       "0000000000000000 t alarm_timer_nsleep_restart\n";
	struct wait_calls calls = {0};
	struct wait_calls_restart found[4] = {0};
	bool is_disk;
	const uint64_t poll[] = {0xffffffff81002010};
	assert_int_equal(wait_calls_read_restarts(str_from(kallsyms), found, 1), 1);
	assert_int_equal(wait_calls_read_restarts(str_from(kallsyms), found, ARRAY_LEN(found)), 3);
	assert_int_equal(found[0].function, 0xffffffff81001000);
	assert_int_equal(found[0].syscall, SYS_futex);
	assert_int_equal(found[2].syscall, SYS_clock_nanosleep);
	wait_calls_read(&calls, str_from(kallsyms));
#ifdef SYS_poll
	assert_int_equal(wait_calls_find(&calls, poll, 1, &is_disk), SYS_poll);
#else
	assert_int_equal(wait_calls_find(&calls, poll, 1, &is_disk), SYS_ppoll);
#endif
	wait_calls_deinit(&calls);
}

static void knows_nothing_where_addresses_are_hidden(void **state)
{
	static const char *const trees[] = {"/proc/kallsyms: 0000000000000000 T __x64_sys_futex\n",
		"/proc/kallsyms: \n", "/proc/kallsyms: x\n", "/proc/version: x\n"};
	const uint64_t ip = 0;
	bool is_disk;
	for (size_t i = 0; i < ARRAY_LEN(trees); i++) {
		struct wait_calls calls = calls_in(trees[i]);
		assert_int_equal(wait_calls_find(&calls, &ip, 1, &is_disk), -1);
		wait_calls_deinit(&calls);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_calls_in_stacks),
		cmocka_unit_test(finds_calls_by_their_workers),
		cmocka_unit_test(finds_what_a_restarted_call_is),
		cmocka_unit_test(knows_nothing_where_addresses_are_hidden),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
