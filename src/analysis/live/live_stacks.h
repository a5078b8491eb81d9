/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_stacks.h - remembers the last stack dump of each thread, so that a dump that is too short can be extended by an
 * earlier dump of the same thread.
 *
 * A thread is remembered only from its first dump on that was too short, because copying costs time. An older dump is
 * used if it overlaps the new one and has the same bytes there: as far as one can tell, the functions above have then
 * not returned since. Memory is bounded by the limits below. One thread.
 *
 *	struct tally_bytes longer = live_stacks_extend(&stacks, tid, sp, copy, is_cut);
 */
#ifndef ANALYSIS_LIVE_LIVE_STACKS_H
#define ANALYSIS_LIVE_LIVE_STACKS_H

#include "base/bytes.h"
#include "base/map_u64.h"

#define LIVE_STACK_MAX	 (1u << 20) /* bytes of a thread */
#define LIVE_STACKS_MAX	 (64u << 20) /* limit for all threads; above it, remembered stacks are dropped */
#define LIVE_THREADS_MAX 4096

struct live_stacks {
	struct map_u64 by_tid; /* -> struct known_stack *, 0 none */
	size_t thread_count;
	uint64_t bytes;
	uint64_t bytes_max; /* 0: LIVE_STACKS_MAX */
};

void live_stacks_deinit(struct live_stacks *stacks);
/* Notes the stack dump from address on. is_cut: the stack is longer than the dump. Returns the bytes from address on
 * that are known now, at least those of the dump; valid until the next call. */
struct tally_bytes live_stacks_extend(
	struct live_stacks *stacks, int32_t tid, uint64_t address, struct tally_bytes copy, bool is_cut);

#endif
