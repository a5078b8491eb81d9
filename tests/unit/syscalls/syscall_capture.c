/* SPDX-License-Identifier: Apache-2.0 */
#include "syscalls/syscall_capture.h"

#include "syscalls/syscall_forms.h"
#include "unit_test.h"

static struct syscall_plan plans[SYSCALL_NUMBERS];

static const struct syscall_plan *capture_test_plan(enum syscall_abi abi, const char *name)
{
	return &plans[syscall_number(abi, str_from(name))];
}

static void plan_says_what_to_copy(void **state)
{
	const struct syscall_capture_options options = {0};
	const struct syscall_plan *p;
	syscall_capture_plan(SYSCALLS_X86_64, &options, plans);
	p = capture_test_plan(SYSCALLS_X86_64, "openat");
	assert_int_equal(p->flags, SYSCALL_PLAN_WANTED | SYSCALL_PLAN_COPIES);
	assert_int_equal(p->args[1].copy, SYSCALL_COPY_STRING);
	assert_int_equal(p->args[0].copy, SYSCALL_COPY_FILE);
	p = capture_test_plan(SYSCALLS_X86_64, "read");
	assert_int_equal(p->flags, SYSCALL_PLAN_WANTED | SYSCALL_PLAN_COPIES | SYSCALL_PLAN_COPIES_OUT);
	assert_int_equal(p->args[1].count, SYSCALL_COUNT_RESULT);
	assert_int_equal(p->args[1].most, 32);
	p = capture_test_plan(SYSCALLS_X86_64, "write");
	assert_int_equal(p->args[1].count, SYSCALL_COUNT_ARG);
	assert_int_equal(p->args[1].of, 2);
	p = capture_test_plan(SYSCALLS_X86_64, "accept4");
	assert_int_equal(p->args[1].count, SYSCALL_COUNT_AT);
	assert_int_equal(p->args[1].of, 2);
	p = capture_test_plan(SYSCALLS_X86_64, "poll");
	assert_int_equal(p->args[0].when, SYSCALL_WHEN_ENTRY | SYSCALL_WHEN_EXIT);
	assert_int_equal(p->args[0].unit, 8);
	p = capture_test_plan(SYSCALLS_X86_64, "execve");
	assert_true(p->flags & SYSCALL_PLAN_NEW_IMAGE);
	assert_int_equal(p->args[1].copy, SYSCALL_COPY_STRINGS);
	assert_int_equal(p->nested, 2);
	assert_true(capture_test_plan(SYSCALLS_X86_64, "exit_group")->flags & SYSCALL_PLAN_NO_RETURN);
	p = capture_test_plan(SYSCALLS_X86_64, "sendmsg");
	assert_int_equal(p->args[1].copy, SYSCALL_COPY_MSGHDR);
	assert_int_equal(p->nested, 2);
	assert_int_equal(capture_test_plan(SYSCALLS_X86_64, "getpid")->flags, SYSCALL_PLAN_WANTED);
	p = capture_test_plan(SYSCALLS_X86_64, "sched_setattr");
	assert_int_equal(p->args[1].copy, SYSCALL_COPY_NOTHING); /* Without BTF types. */
	assert_true(capture_test_plan(SYSCALLS_X86_64, "vfork")->flags & SYSCALL_PLAN_FORKS);
	assert_int_equal(syscall_capture_others(&options).flags, SYSCALL_PLAN_WANTED);
}

/* Loops over pointers apply only to programs with 64-bit pointers. */
static void plan_of_32_bit_programs(void **state)
{
	const struct syscall_capture_options options = {0};
	syscall_capture_plan(SYSCALLS_I386, &options, plans);
	assert_int_equal(capture_test_plan(SYSCALLS_I386, "openat")->args[1].copy, SYSCALL_COPY_STRING);
	assert_int_equal(capture_test_plan(SYSCALLS_I386, "execve")->args[1].copy, SYSCALL_COPY_NOTHING);
	assert_int_equal(capture_test_plan(SYSCALLS_I386, "writev")->args[1].copy, SYSCALL_COPY_NOTHING);
	assert_int_equal(capture_test_plan(SYSCALLS_I386, "nanosleep")->args[0].unit, 8);
	assert_int_equal(capture_test_plan(SYSCALLS_I386, "clock_nanosleep_time64")->args[2].unit, 16);
}

static void plan_of_some_calls(void **state)
{
	struct syscall_set set = {0};
	const struct syscall_capture_options options = {.wanted = &set, .nothing = true};
	assert_true(syscall_select(SYSCALLS_X86_64, STR("openat"), &set));
	syscall_capture_plan(SYSCALLS_X86_64, &options, plans);
	assert_int_equal(capture_test_plan(SYSCALLS_X86_64, "openat")->flags, SYSCALL_PLAN_WANTED);
	assert_int_equal(capture_test_plan(SYSCALLS_X86_64, "openat")->args[1].copy, SYSCALL_COPY_NOTHING);
	assert_int_equal(capture_test_plan(SYSCALLS_X86_64, "close")->flags, 0);
}

static void plan_of_longer_strings(void **state)
{
	static const struct syscall_capture_options usual = {0}, longer = {.string_bytes = 300};
	syscall_capture_plan(SYSCALLS_X86_64, &usual, plans);
	assert_int_equal(capture_test_plan(SYSCALLS_X86_64, "write")->args[1].most, SYSCALL_STRING_BYTES);
	assert_int_equal(capture_test_plan(SYSCALLS_X86_64, "execve")->args[1].most, 256);
	syscall_capture_plan(SYSCALLS_X86_64, &longer, plans);
	assert_int_equal(capture_test_plan(SYSCALLS_X86_64, "write")->args[1].most, 300);
	assert_int_equal(capture_test_plan(SYSCALLS_X86_64, "execve")->args[1].most, 300);
}

static void plan_without_paths(void **state)
{
	const struct syscall_capture_options options = {.no_files = true};
	syscall_capture_plan(SYSCALLS_X86_64, &options, plans);
	assert_int_equal(capture_test_plan(SYSCALLS_X86_64, "close")->flags, SYSCALL_PLAN_WANTED);
}

/* The BPF program accesses only memory within these bounds of a plan. */
static void plans_have_bounds(void **state)
{
	const struct syscall_capture_options options = {0};
	for (enum syscall_abi abi = 0; abi < SYSCALLS_COUNT; abi++) {
		syscall_capture_plan(abi, &options, plans);
		for (size_t i = 0; i < SYSCALL_NUMBERS; i++) {
			assert_true(plans[i].nested <= SYSCALL_ARGS);
			for (size_t k = 0; k < SYSCALL_ARGS; k++) {
				assert_true(plans[i].args[k].most <= SYSCALL_PART);
				assert_true(plans[i].args[k].of < SYSCALL_ARGS);
				assert_true(plans[i].args[k].copy == SYSCALL_COPY_NOTHING || plans[i].args[k].when);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan_says_what_to_copy),
		cmocka_unit_test(plan_of_32_bit_programs),
		cmocka_unit_test(plan_of_some_calls),
		cmocka_unit_test(plan_of_longer_strings),
		cmocka_unit_test(plan_without_paths),
		cmocka_unit_test(plans_have_bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
