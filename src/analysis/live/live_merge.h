/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_merge.h - merges the records of several rings in time order, without copying them.
 *
 * Each ring's own records are assumed to be in order. The caller reads all rings twice, because a ring that was read
 * early may get records that are older than those found in rings read later. Only records up to the newest one of the
 * first reading are handed out, so every sample comes after the mappings that it needs. Knows nothing of kernels. One
 * thread. Bad input: a record with an impossible size ends what is read of its ring; it is counted.
 *
 *	live_merge_init(&merge, ring_count, time_of, context, err);
 *	for each ring: live_merge_note(&merge, ring, slices, n);   for each ring: live_merge_show(&merge, ring, slices, n);
 *	for (; live_merge_next(&merge, &ring, &record); live_merge_advance(&merge)) ...
 *	... live_merge_taken(&merge, ring) bytes can be given back ...
 */
#ifndef ANALYSIS_LIVE_LIVE_MERGE_H
#define ANALYSIS_LIVE_LIVE_MERGE_H

#include "abi/record.h"

struct live_merge_ring {
	struct tally_bytes slices[2];
	size_t len, position; /* length of both slices; position of the first byte that was not returned yet */
	struct record record; /* at position, if it has one */
	uint64_t time;
	bool has_record;
	uint8_t *joined; /* a record that lies in both slices; NULL: there was none yet */
};

struct live_merge {
	struct live_merge_ring *rings;
	size_t count;
	size_t *heap; /* rings that have a record, the oldest first */
	size_t heap_len;
	uint64_t horizon;
	uint64_t (*time_of)(void *context,
		const struct record *record); /* 0: the record has no time, and comes right after the one before */
	void *context;
	uint64_t damaged;
};

TALLY_MUST_CHECK enum tally_status live_merge_init(struct live_merge *merge, size_t ring_count,
	uint64_t (*time_of)(void *context, const struct record *record), void *context, struct tally_error *err);
void live_merge_deinit(struct live_merge *merge);
/* Begins a pass. has_end: no more records will come, so all are returned. */
void live_merge_start(struct live_merge *merge, bool has_end);
/* Notes the contents of a ring for the first time in a pass. */
void live_merge_note(struct live_merge *merge, size_t ring, const struct tally_bytes slices[2], size_t slice_count);
/* Notes them for the second time: at least as much as the first time. False: out of memory. */
bool live_merge_show(struct live_merge *merge, size_t ring, const struct tally_bytes slices[2], size_t slice_count);
/* The oldest record, which stays valid until live_merge_advance; false: there are no more. */
bool live_merge_next(struct live_merge *merge, size_t *ring, struct record *record);
/* Moves past that record. False: out of memory. */
bool live_merge_advance(struct live_merge *merge);
/* Bytes of the ring that were returned, counted from the start of its first slice. */
static inline size_t live_merge_taken(const struct live_merge *merge, size_t ring)
{
	return merge->rings[ring].position;
}

#endif
