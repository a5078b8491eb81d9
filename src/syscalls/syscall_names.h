/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_names.h - selects system calls by name, pattern or group, as in the argument of -e.
 *
 *	if (!syscall_select(SYSCALLS_X86_64, STR("file"), &set)) ... syscall_nearest(SYSCALLS_X86_64, word)
 */
#ifndef SYSCALLS_SYSCALL_NAMES_H
#define SYSCALLS_SYSCALL_NAMES_H

#include "syscalls/syscall_numbers.h"

struct syscall_set {
	bool has[SYSCALL_NUMBERS]; /* Indexed by number. */
	bool has_others; /* True if numbers from SYSCALL_NUMBERS on are included. */
};

/*
 * Adds the calls that a word selects to the set: a name, a pattern with * ? [], or a group: file (calls with paths),
 * string (with paths or names), desc (with descriptors), net or network, process, signal, ipc, memory, creds, clock; a
 * group may be written as %file to distinguish it from a name. Returns false if the word selects no call of the table.
 */
bool syscall_select(enum syscall_abi abi, struct tally_str word, struct syscall_set *set);

#endif
