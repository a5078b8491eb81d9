/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_merge.h - merges the records of a recorder's rings in time order, reads them in place, and releases their memory
 * after use.
 *
 * live_merge.h explains the order. The caller owns it, and the recorder and context. One thread.
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
	uint64_t *released; /* by ring: of the bytes that the pass has seen */
	uint64_t share; /* of a ring: so many bytes are released at a time during a pass */
	size_t ring; /* of the current record */
};

/* time_of: as live_merge_init has it. */
TALLY_MUST_CHECK enum tally_status ring_merge_init(struct ring_merge *m, struct recorder *recorder,
	uint64_t (*time_of)(void *context, const struct record *record), void *context, struct tally_error *err);
void ring_merge_deinit(struct ring_merge *m);
/* Begins a pass. is_last: nothing comes after it. fill: the bytes in the fullest ring. NOMEM only. */
TALLY_MUST_CHECK enum tally_status ring_merge_look(
	struct ring_merge *m, bool is_last, uint64_t *fill, struct tally_error *err);
/* The oldest record, which stays valid until ring_merge_advance; false: there are no more. */
bool ring_merge_next(struct ring_merge *m, struct record *record);
/* False: out of memory. */
bool ring_merge_advance(struct ring_merge *m);
/* Ends a pass, also one that failed: releases the records that were returned. */
void ring_merge_release(struct ring_merge *m);

#endif
