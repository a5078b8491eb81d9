/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number_tables.h - declares the constant tables of system calls' names by number. Private to src/syscalls.
 */
#ifndef SYSCALLS_NUMBER_TABLES_H
#define SYSCALLS_NUMBER_TABLES_H

#include "syscalls/syscall_call.h"

struct syscall_number_table {
	const char *const *names; /* NULL: there is no such number */
	size_t count;
};

extern const struct syscall_number_table syscall_numbers_x86_64, syscall_numbers_i386, syscall_numbers_arm64;

#endif
