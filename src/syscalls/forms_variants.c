/* SPDX-License-Identifier: Apache-2.0 */
/* System calls with other arguments than on x86-64: in another order, or split into two registers. */
#include "base/array.h"
#include "syscalls/syscall_forms.h"

static const struct syscall_form i386_forms[] = {
	{"clone", RESULT_PID,
		{ARG("clone_flags", CLONE), ARG("newsp", ADDRESS), OUT("parent_tidptr", INT_PTR), ARG("tls", ADDRESS),
			ARG("child_tidptr", ADDRESS)}},
	{"pread64", RESULT_LONG,
		{ARG("fd", FD), OUT_RESULT("buf", BUFFER), ARG("count", ULONG), ARG("pos_low", ULONG),
			ARG("pos_high", ULONG)}},
	{"pwrite64", RESULT_LONG,
		{ARG("fd", FD), IN_OF("buf", BUFFER, 2), ARG("count", ULONG), ARG("pos_low", ULONG),
			ARG("pos_high", ULONG)}},
	{"mmap", RESULT_ADDRESS, {ARG("arg", ADDRESS)}},
	{"select", RESULT_INT, {ARG("arg", ADDRESS)}},
	{"readahead", RESULT_LONG,
		{ARG("fd", FD), ARG("offset_low", ULONG), ARG("offset_high", ULONG), ARG("count", ULONG)}},
	{"fadvise64", RESULT_LONG,
		{ARG("fd", FD), ARG("offset_low", ULONG), ARG("offset_high", ULONG), ARG("len", ULONG),
			ENUM("advice", fadvise)}},
	{"fadvise64_64", RESULT_LONG,
		{ARG("fd", FD), ARG("offset_low", ULONG), ARG("offset_high", ULONG), ARG("len_low", ULONG),
			ARG("len_high", ULONG), ENUM("advice", fadvise)}},
	{"fallocate", RESULT_LONG,
		{ARG("fd", FD), FLAGS("mode", fallocate), ARG("offset_low", ULONG), ARG("offset_high", ULONG),
			ARG("len_low", ULONG), ARG("len_high", ULONG)}},
};

static const struct syscall_form arm64_forms[] = {
	{"clone", RESULT_PID,
		{ARG("clone_flags", CLONE), ARG("newsp", ADDRESS), OUT("parent_tidptr", INT_PTR), ARG("tls", ADDRESS),
			ARG("child_tidptr", ADDRESS)}},
};

const struct syscall_form_list syscall_forms_i386 = {i386_forms, ARRAY_LEN(i386_forms)};
const struct syscall_form_list syscall_forms_arm64 = {arm64_forms, ARRAY_LEN(arm64_forms)};
