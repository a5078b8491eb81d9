/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_stacks.h - keeps the stacks of waits by their IDs: the BPF program sends each stack once, so it is kept as long
 * as a wait may refer to it.
 *
 * Two generations bound the memory: when the younger one is full, the older one is freed, and the IDs of stacks that
 * only it had are passed to `forgotten`, so that the program sends them again. Stacks that nobody can send again are kept
 * (wait_stacks_keep). The owner calls wait_stacks_deinit. One thread.
 *
 *	wait_stacks_add(&stacks, id, ips, kernel_count, user_count);
 *	count = wait_stacks_chain(&stacks, id, chain, ARRAY_LEN(chain));
 */
#ifndef BPF_WAIT_STACKS_H
#define BPF_WAIT_STACKS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/map_u64.h"

#define WAIT_CHAIN_MOST 256 /* kernel, user and their markers */

struct wait_stacks_range {
	uint64_t begin, end;
};

struct wait_stacks_generation {
	struct map_u64 index; /* ID to a pointer */
	struct arena arena;
	bool has_arena;
	size_t bytes;
};

#define WAIT_STACKS_SCHEDULER_MOST 64

struct wait_stacks {
	struct wait_stacks_generation young, old, kept;
	size_t most_bytes; /* of a generation; the kept ones may take four times as much */
	/* Functions of the scheduler and of wake-ups, whose frames every stack begins with. */
	struct wait_stacks_range scheduler[WAIT_STACKS_SCHEDULER_MOST];
	size_t scheduler_count;
	struct wait_stacks_range interrupts; /* where interrupts enter the kernel; empty: not known */
	void (*forgotten)(void *context, uint64_t id); /* may be NULL */
	void *forgotten_context;
};

void wait_stacks_deinit(struct wait_stacks *stacks);
/* Finds the kernel functions that are omitted at the top of stacks in the text of /proc/kallsyms. Finds none if the
 * kernel hides its addresses. */
void wait_stacks_read_kernel(struct wait_stacks *stacks, struct tally_str kallsyms);
/* Adds a stack: the kernel's addresses, then the user's, innermost first. False: out of memory. */
bool wait_stacks_add(
	struct wait_stacks *stacks, uint64_t id, const uint64_t *ips, size_t kernel_count, size_t user_count);
/* The same for a stack that is not forgotten, unless the kept ones come to 256 MB; it replaces one that is kept under this
 * ID. */
bool wait_stacks_keep(
	struct wait_stacks *stacks, uint64_t id, const uint64_t *ips, size_t kernel_count, size_t user_count);
/* Replaces the user part of a stack that is kept. */
bool wait_stacks_keep_user(struct wait_stacks *stacks, uint64_t id, const uint64_t *ips, size_t count);
/* The call chain with PERF_CONTEXT_ markers; 0: not known. */
size_t wait_stacks_chain(struct wait_stacks *stacks, uint64_t id, uint64_t *chain, size_t most);
/* How many entries of a call chain belong to an interrupt: those up to where it entered the kernel. What follows is
 * the code that it interrupted. All of them if the kernel hides that place. */
size_t wait_stacks_interrupt(const struct wait_stacks *stacks, const uint64_t *chain, size_t count);

#endif
