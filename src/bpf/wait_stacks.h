/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_stacks.h - stores the stacks of waits by their IDs. The BPF program sends each stack once, so it must be
 * retained as long as a wait may refer to it.
 *
 * Two generations bound the memory: when the younger one is full, the older one is freed, and the IDs of the stacks in
 * it that were not used again are passed to `forgotten`, so that the program sends them again. Stacks that cannot be
 * sent again are retained separately (wait_stacks_keep). The owner zero-initializes the structure and calls
 * wait_stacks_deinit. Used by one thread.
 *
 *	wait_stacks_add(&stacks, id, ips, kernel_count, user_count);
 *	count = wait_stacks_chain(&stacks, id, chain, ARRAY_LEN(chain));
 */
#ifndef BPF_WAIT_STACKS_H
#define BPF_WAIT_STACKS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/map_u64.h"

#define WAIT_CHAIN_MOST 256 /* Maximum number of entries of a chain: kernel and user frames with their markers. */

struct wait_stacks_range {
	uint64_t begin, end;
};

struct wait_stacks_generation {
	struct map_u64 index; /* Maps an ID to a pointer to the stack. */
	struct arena arena;
	bool has_arena;
	size_t bytes;
};

#define WAIT_STACKS_SCHEDULER_MOST 64

struct wait_stacks {
	struct wait_stacks_generation young, old, kept;
	size_t most_bytes; /* Maximum size of a generation, 0 for 64 MiB; kept stacks may use four times as much. */
	/* Functions of the scheduler and of wake-ups: the innermost frames of every stack, which are omitted. */
	struct wait_stacks_range scheduler[WAIT_STACKS_SCHEDULER_MOST];
	size_t scheduler_count;
	/* Code through which interrupts enter the kernel; empty if it is not known. */
	struct wait_stacks_range interrupts;
	void (*forgotten)(void *context, uint64_t id); /* May be NULL. */
	void *forgotten_context;
};

void wait_stacks_deinit(struct wait_stacks *stacks);
/*
 * Sets scheduler and interrupts from the text of /proc/kallsyms. They remain empty if the kernel hides its addresses.
 */
void wait_stacks_read_kernel(struct wait_stacks *stacks, struct tally_str kallsyms);
/* Adds a stack: the kernel's addresses, then the user's, innermost first. Returns false if it is out of memory. */
bool wait_stacks_add(
	struct wait_stacks *stacks, uint64_t id, const uint64_t *ips, size_t kernel_count, size_t user_count);
/*
 * Adds a stack that is retained, or replaces a retained one with this ID. If the stack does not fit into the maximum
 * size, all other retained stacks are dropped. Returns false if it is out of memory.
 */
bool wait_stacks_keep(
	struct wait_stacks *stacks, uint64_t id, const uint64_t *ips, size_t kernel_count, size_t user_count);
/* Replaces the user frames of a retained stack. Returns false if it is out of memory. */
bool wait_stacks_keep_user(struct wait_stacks *stacks, uint64_t id, const uint64_t *ips, size_t count);
/*
 * Writes at most `most` entries of the call chain, innermost frame first, with PERF_CONTEXT_ markers. Returns their
 * number; 0 if the ID is not known.
 */
size_t wait_stacks_chain(struct wait_stacks *stacks, uint64_t id, uint64_t *chain, size_t most);
/*
 * Returns how many of the count entries of a call chain belong to an interrupt: those up to its entry to the kernel,
 * which the frames of the interrupted code follow. Returns count if the kernel hides the address of that entry.
 */
size_t wait_stacks_interrupt(const struct wait_stacks *stacks, const uint64_t *chain, size_t count);

#endif
