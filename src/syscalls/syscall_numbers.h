/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_numbers.h - finds the names of system calls by number, and numbers by name, in the tables of x86-64, i386 and
 * arm64.
 *
 * Names are those of the call's table in the kernel (newfstatat, pread64). The tables are constant. Any thread.
 *
 *	number = syscall_number(SYSCALLS_X86_64, STR("openat"));   // 257
 */
#ifndef SYSCALLS_SYSCALL_NUMBERS_H
#define SYSCALLS_SYSCALL_NUMBERS_H

#include "base/text.h"
#include "syscalls/syscall_call.h"

#define SYSCALL_UNKNOWN UINT32_MAX

/* NULL: the table has no such number. */
const char *syscall_name(enum syscall_abi abi, uint32_t number);
/* Also by names that other tools use ("fstat" is newfstat in tracepoints, "stat" newstat). SYSCALL_UNKNOWN: none. */
uint32_t syscall_number(enum syscall_abi abi, struct tally_str name);
/* Appends the name, or "syscall_N". */
void syscall_print_name(struct text *t, enum syscall_abi abi, uint32_t number);
/* The name that is nearest to a misspelt one; NULL: none is near. */
const char *syscall_nearest(enum syscall_abi abi, const char *word);

#endif
