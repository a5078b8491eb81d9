/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_calls.h - determines from the kernel frames of a stack which system call a thread is in, and whether it waits
 * for a block device. It is for sources of waits that have only stacks.
 *
 * The owner calls wait_calls_deinit. If the kernel hides its addresses, the table is empty and no call is found. Used
 * by one thread.
 *
 *	wait_calls_read(&calls, kallsyms);
 *	number = wait_calls_find(&calls, ips, count, &is_disk);	// 202 on x86-64: futex; -1: not known
 */
#ifndef BPF_WAIT_CALLS_H
#define BPF_WAIT_CALLS_H

#include "base/bytes.h"
#include "base/vec.h"

struct wait_calls_range {
	uint64_t begin, end;
	int32_t syscall; /* Number of the call that the function belongs to; -1 if it waits for a block device. */
};

struct wait_calls_restart { /* A kernel function that continues a system call after a stop. */
	uint64_t function; /* Address of the function. */
	int32_t syscall; /* Number of the continued system call. */
};

struct wait_calls {
	VEC(struct wait_calls_range) ranges; /* Ascending by address. */
};

/* Fills calls, which is zero-initialized, from the text of /proc/kallsyms. */
void wait_calls_read(struct wait_calls *calls, struct tally_str kallsyms);
/* Fills at most `most` restarts and returns their number, which is 0 if the kernel hides its addresses. */
size_t wait_calls_read_restarts(struct tally_str kallsyms, struct wait_calls_restart *restarts, size_t most);
void wait_calls_deinit(struct wait_calls *calls);
/* Returns -1 if the system call is not known. ips are the addresses of the stack, innermost frame first. */
int32_t wait_calls_find(const struct wait_calls *calls, const uint64_t *ips, size_t count, bool *is_disk);

#endif
