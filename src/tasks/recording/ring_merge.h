/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_merge.h - merges the records of a recorder's rings in time order, reads them in place, and releases their memory
 * after use.
 *
 * live_merge.h explains the order. The caller owns struct ring_merge, the recorder and the context. Not thread-safe.
 *
 *	ring_merge_init(&merge, recorder, time_of, context, err);
 *	ring_merge_look(&merge, is_last, &fill, err);
 *	for (; ring_merge_next(&merge, &record); ring_merge_advance(&merge)) ...
 *	ring_merge_release(&merge);
 */
#ifndef TASKS_RECORDING_RING_MERGE_H
#define TASKS_RECORDING_RING_MERGE_H

#include "analysis/live/live_merge.h"
#include "kernel/recording/recorder.h"

struct ring_merge {
	struct recorder *recorder;
	struct live_merge merge;
	uint64_t *released; /* For each ring, the number of bytes that were released in the current pass. */
	uint64_t share; /* Number of bytes of a ring that are released at a time during a pass. */
	size_t ring; /* Ring of the current record. */
};

/* See live_merge_init for time_of. */
TALLY_MUST_CHECK enum tally_status ring_merge_init(struct ring_merge *m, struct recorder *recorder,
	uint64_t (*time_of)(void *context, const struct record *record), void *context, struct tally_error *err);
void ring_merge_deinit(struct ring_merge *m);
/* Begins a pass. is_last is set if nothing follows. Sets fill to the number of bytes in the fullest ring. Fails only
 * with NOMEM. */
TALLY_MUST_CHECK enum tally_status ring_merge_look(
	struct ring_merge *m, bool is_last, uint64_t *fill, struct tally_error *err);
/* Returns the oldest record, which stays valid until ring_merge_advance. Returns false if there are no more. */
bool ring_merge_next(struct ring_merge *m, struct record *record);
/* Returns false if memory runs out. */
bool ring_merge_advance(struct ring_merge *m);
/* Ends a pass, also after a failure: releases the records that were returned. */
void ring_merge_release(struct ring_merge *m);

#endif
