/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_merge.h - merges the records of several rings in time order, without copying them.
 *
 * The records of each ring are assumed to be in order. The caller reads all rings twice, because a ring that was read
 * early may receive records older than those found in rings read later. Only records up to the newest one of the first
 * reading are returned, so every sample comes after the mappings that it needs. The module does not depend on kernel
 * interfaces. One thread. Bad input: a record with an impossible size ends the reading of its ring and is counted.
 *
 *	live_merge_init(&merge, ring_count, time_of, context, err);
 *	live_merge_start(&merge, false);
 *	for each ring: live_merge_note(&merge, ring, slices, n);
 *	for each ring: live_merge_show(&merge, ring, slices, n);
 *	for (; live_merge_next(&merge, &ring, &record); live_merge_advance(&merge)) ...
 *	... the first live_merge_taken(&merge, ring) bytes of the ring can be released ...
 */
#ifndef ANALYSIS_LIVE_LIVE_MERGE_H
#define ANALYSIS_LIVE_LIVE_MERGE_H

#include "abi/record.h"

struct live_merge_ring {
	struct tally_bytes slices[2];
	/* Length of both slices together, and position of the first byte that has not been returned. */
	size_t len, position;
	struct record record; /* The record at position, if has_record is set. */
	uint64_t time;
	bool has_record;
	uint8_t *joined; /* Buffer for a record that spans both slices; NULL until needed. */
};

struct live_merge {
	struct live_merge_ring *rings;
	size_t count;
	size_t *heap; /* Heap of the rings that have a record, oldest record first. */
	size_t heap_len;
	/* Time of the newest record of the first reading; later records are left for the next pass. */
	uint64_t horizon;
	/* Returns 0 if the record has no time; it then directly follows the record before it in its ring. */
	uint64_t (*time_of)(void *context, const struct record *record);
	void *context;
	uint64_t damaged; /* Number of records with an impossible size. */
};

TALLY_MUST_CHECK enum tally_status live_merge_init(struct live_merge *merge, size_t ring_count,
	uint64_t (*time_of)(void *context, const struct record *record), void *context, struct tally_error *err);
void live_merge_deinit(struct live_merge *merge);
/* Begins a pass. has_end means that no more records will come, so that all are returned. */
void live_merge_start(struct live_merge *merge, bool has_end);
/* Passes the contents of a ring for the first time in a pass (first reading). */
void live_merge_note(struct live_merge *merge, size_t ring, const struct tally_bytes slices[2], size_t slice_count);
/* Passes the contents of a ring for the second time in a pass: those of the first time, and what arrived meanwhile.
 * Returned records may point into the slices. Returns false when out of memory. */
bool live_merge_show(struct live_merge *merge, size_t ring, const struct tally_bytes slices[2], size_t slice_count);
/* Returns the oldest record, which is valid until live_merge_advance; false if there are no more. */
bool live_merge_next(struct live_merge *merge, size_t *ring, struct record *record);
/* Moves past the record that live_merge_next returned. Returns false when out of memory. */
bool live_merge_advance(struct live_merge *merge);
/* Returns how many bytes of the ring were returned, counted from the start of its first slice. */
static inline size_t live_merge_taken(const struct live_merge *merge, size_t ring)
{
	return merge->rings[ring].position;
}

#endif
