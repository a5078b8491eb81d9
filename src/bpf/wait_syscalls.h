/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_syscalls.h - determines from its system call what a thread waits for: a lock, a ready descriptor, or data of a
 * pipe or socket. System call numbers are those of the architecture that this program was built for.
 *
 *	state = wait_syscall_state(WAIT_SLEEPING, 202);	// WAIT_FUTEX on x86-64
 */
#ifndef BPF_WAIT_SYSCALLS_H
#define BPF_WAIT_SYSCALLS_H

#include "abi/wait_record.h"

/* Returns the state as refined by the system call; state itself if call is -1 (none) or does not refine it. */
enum wait_state wait_syscall_state(enum wait_state state, int32_t call);

#endif
