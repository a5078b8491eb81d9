/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_syscalls.h - determines what a thread waits for from the system call that it is in: a lock, a descriptor that
 * becomes ready, data of a pipe or socket. Numbers are those of the architecture that this was built for.
 *
 *	state = wait_syscall_state(WAIT_SLEEPING, 202);	// WAIT_FUTEX on x86-64
 */
#ifndef BPF_WAIT_SYSCALLS_H
#define BPF_WAIT_SYSCALLS_H

#include "abi/wait_record.h"

/* Returns state if the system call (-1: none) does not refine it. */
enum wait_state wait_syscall_state(enum wait_state state, int32_t call);

#endif
