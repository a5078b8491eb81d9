/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_calls.h - determines from the kernel's part of a stack which system call a thread is in, and whether it waits for
 * a block device: for sources of waits that cannot ask the kernel.
 *
 * The owner calls wait_calls_deinit. A kernel that hides its addresses leaves it empty, and then nothing is found. One
 * thread.
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
	int32_t syscall; /* -1: the function waits for a block device */
};

struct wait_calls_restart { /* a kernel function that continues a system call after a stop */
	uint64_t function;
	int32_t syscall; /* which one */
};

struct wait_calls {
	VEC(struct wait_calls_range) ranges; /* in order of addresses */
};

/* kallsyms: the text of /proc/kallsyms. */
void wait_calls_read(struct wait_calls *calls, struct tally_str kallsyms);
/* Fills restarts with those of the kernel; how many were found: none if it hides its addresses. */
size_t wait_calls_read_restarts(struct tally_str kallsyms, struct wait_calls_restart *restarts, size_t most);
void wait_calls_deinit(struct wait_calls *calls);
int32_t wait_calls_find(const struct wait_calls *calls, const uint64_t *ips, size_t count, bool *is_disk);

#endif
