/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_numbers.h - maps system call numbers to names, and names to numbers, by the tables of x86-64, i386 and arm64.
 *
 * Names are those of the kernel's table (newfstatat, pread64). The tables are constant. May be called from any thread.
 *
 *	number = syscall_number(SYSCALLS_X86_64, STR("openat"));   // 257
 */
#ifndef SYSCALLS_SYSCALL_NUMBERS_H
#define SYSCALLS_SYSCALL_NUMBERS_H

#include "base/text.h"
#include "syscalls/syscall_call.h"

#define SYSCALL_UNKNOWN UINT32_MAX

/* Returns NULL if the table does not contain the number. 32-bit arm has no table: its calls have no names. */
const char *syscall_name(enum syscall_abi abi, uint32_t number);
/*
 * Returns the number of a name, which may be one that other tools use ("fstat" is newfstat in tracepoints, "stat"
 * newstat); SYSCALL_UNKNOWN if there is none.
 */
uint32_t syscall_number(enum syscall_abi abi, struct tally_str name);
/* Appends the name, or "syscall_N" if it is not known. */
void syscall_print_name(struct text *t, enum syscall_abi abi, uint32_t number);
/* Returns the name that is most similar to a misspelt word; NULL if none is similar. */
const char *syscall_nearest(enum syscall_abi abi, const char *word);

#endif
