/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_names.h - selects system calls by name, pattern or group, as -e and its like name them.
 *
 *	if (!syscall_select(SYSCALLS_X86_64, STR("file"), &set)) ... syscall_nearest(SYSCALLS_X86_64, word)
 */
#ifndef SYSCALLS_SYSCALL_NAMES_H
#define SYSCALLS_SYSCALL_NAMES_H

#include "syscalls/syscall_numbers.h"

struct syscall_set {
	bool has[SYSCALL_NUMBERS];
	bool has_others; /* numbers beyond */
};

/* Adds the calls that are meant to the set: a name, a pattern with * ? [], or a group: file, string (those with paths or
 * names), desc (with descriptors), net or network, process, signal, ipc, memory, creds, clock; %file is the group only.
 * False: this table has none. */
bool syscall_select(enum syscall_abi abi, struct tally_str word, struct syscall_set *set);

#endif
