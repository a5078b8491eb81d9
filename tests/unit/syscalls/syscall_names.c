/* SPDX-License-Identifier: Apache-2.0 */
#include "syscalls/syscall_names.h"

#include <sys/syscall.h>

#include "syscalls/syscall_forms.h"
#include "unit_test.h"

static bool names_test_has(const struct syscall_set *set, const char *name)
{
	return set->has[syscall_number(SYSCALLS_X86_64, str_from(name))];
}

static size_t names_test_count(const struct syscall_set *set)
{
	size_t count = 0;
	for (size_t i = 0; i < SYSCALL_NUMBERS; i++)
		count += set->has[i];
	return count;
}

/* Compares the numbers with the header of this machine. */
static void numbers_are_the_kernels(void **state)
{
#if defined(__x86_64__)
	assert_int_equal(syscall_number(SYSCALLS_X86_64, STR("openat")), SYS_openat);
	assert_int_equal(syscall_number(SYSCALLS_X86_64, STR("clone3")), SYS_clone3);
	assert_int_equal(syscall_number(SYSCALLS_X86_64, STR("futex_waitv")), SYS_futex_waitv);
#elif defined(__aarch64__)
	assert_int_equal(syscall_number(SYSCALLS_ARM64, STR("openat")), SYS_openat);
	assert_int_equal(syscall_number(SYSCALLS_ARM64, STR("clone3")), SYS_clone3);
#endif
	assert_int_equal(syscall_number(SYSCALLS_X86_64, STR("read")), 0);
	assert_int_equal(syscall_number(SYSCALLS_I386, STR("openat")), 295);
	assert_int_equal(syscall_number(SYSCALLS_ARM64, STR("openat")), 56);
	assert_int_equal(syscall_number(SYSCALLS_ARM64, STR("open")), SYSCALL_UNKNOWN);
	assert_string_equal(syscall_name(SYSCALLS_X86_64, 257), "openat");
	assert_null(syscall_name(SYSCALLS_X86_64, 9999));
	assert_null(syscall_name(SYSCALLS_COUNT, 1));
	assert_null(syscall_name(SYSCALLS_ARM, 1));
}

/* Each call that programs can make has a form, except some of i386 that no kernel implements. */
static void every_call_has_a_form(void **state)
{
	static const enum syscall_abi abis[] = {SYSCALLS_X86_64, SYSCALLS_ARM64};
	for (size_t a = 0; a < ARRAY_LEN(abis); a++) {
		size_t missing = 0;
		for (uint32_t i = 0; i < SYSCALL_NUMBERS; i++)
			missing += syscall_name(abis[a], i) && !syscall_form_find(abis[a], i);
		assert_true(missing <= 15); /* For example afs_syscall and vserver. */
	}
	assert_non_null(syscall_form_find(SYSCALLS_I386, syscall_number(SYSCALLS_I386, STR("clock_gettime64"))));
}

static void names_of_others(void **state)
{
	assert_int_equal(syscall_number(SYSCALLS_X86_64, STR("newfstat")), 5);
	assert_int_equal(syscall_number(SYSCALLS_X86_64, STR("pread")), 17);
	assert_int_equal(syscall_number(SYSCALLS_X86_64, STR("nosuch")), SYSCALL_UNKNOWN);
	assert_string_equal(syscall_nearest(SYSCALLS_X86_64, "openatt"), "openat");
	assert_null(syscall_nearest(SYSCALLS_X86_64, "zzzzzzzzzz"));
}

static void names_patterns_and_groups(void **state)
{
	struct syscall_set set = {0};
	assert_true(syscall_select(SYSCALLS_X86_64, STR("openat"), &set));
	assert_int_equal(names_test_count(&set), 1);
	assert_true(syscall_select(SYSCALLS_X86_64, STR("renameat*"), &set));
	assert_int_equal(names_test_count(&set), 3);
	assert_false(syscall_select(SYSCALLS_X86_64, STR("nosuch*"), &set));
	assert_false(syscall_select(SYSCALLS_X86_64, STR("%openat"), &set));
	assert_int_equal(names_test_count(&set), 3);
	set = (struct syscall_set){0};
	assert_true(syscall_select(SYSCALLS_X86_64, STR("file"), &set));
	assert_true(names_test_has(&set, "openat") && names_test_has(&set, "stat") && names_test_has(&set, "execve"));
	assert_false(names_test_has(&set, "read") || names_test_has(&set, "socket"));
	set = (struct syscall_set){0};
	assert_true(syscall_select(SYSCALLS_X86_64, STR("%network"), &set));
	assert_true(names_test_has(&set, "connect") && names_test_has(&set, "recvmsg"));
	assert_false(names_test_has(&set, "read"));
	set = (struct syscall_set){0};
	assert_true(syscall_select(SYSCALLS_X86_64, STR("desc"), &set));
	assert_true(names_test_has(&set, "read") && names_test_has(&set, "mmap") && names_test_has(&set, "epoll_wait"));
	assert_false(names_test_has(&set, "getpid"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_the_kernels),
		cmocka_unit_test(every_call_has_a_form),
		cmocka_unit_test(names_of_others),
		cmocka_unit_test(names_patterns_and_groups),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
