/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_stacks.h - remembers the last stack dump of each thread, so that a dump that is too short can be extended by an
 * earlier dump of the same thread.
 *
 * Dumps of a thread are remembered only after its first dump that was too short, because copying costs time. An older
 * dump is used if it overlaps the new one with equal bytes: most likely its outer functions have not returned since.
 * Memory is bounded by the limits below. One thread.
 *
 *	struct tally_bytes longer = live_stacks_extend(&stacks, tid, sp, copy, is_cut);
 */
#ifndef ANALYSIS_LIVE_LIVE_STACKS_H
#define ANALYSIS_LIVE_LIVE_STACKS_H

#include "base/bytes.h"
#include "base/map_u64.h"

#define LIVE_STACK_MAX (1u << 20) /* Limit of bytes for one thread. */
/* Limit of bytes for all threads; when it is exceeded, remembered dumps are dropped. */
#define LIVE_STACKS_MAX	 (64u << 20)
#define LIVE_THREADS_MAX 4096

struct live_stacks {
	struct map_u64 by_tid; /* Maps a tid to a struct known_stack *; 0 if there is none. */
	size_t thread_count;
	uint64_t bytes;
	uint64_t bytes_max; /* Limit of bytes for all threads; 0 means LIVE_STACKS_MAX. */
};

void live_stacks_deinit(struct live_stacks *stacks);
/* Remembers the stack dump that starts at address. is_cut means that the stack is longer than the dump. Returns the
 * known bytes from address on, which include the dump; valid until the next call. */
struct tally_bytes live_stacks_extend(
	struct live_stacks *stacks, int32_t tid, uint64_t address, struct tally_bytes copy, bool is_cut);

#endif
