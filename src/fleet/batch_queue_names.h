/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_queue_names.h - writes and reads the names of a queue's files, which have all that the queue must remember.
 * Private to fleet/.
 *
 * A batch: BEGIN-ID.SAMPLES.LOST.GENERATION.BATCHES.SAMPLES.LOST.batch, the last three of them being the losses that it
 * reports, then ".zst" if it is compressed. Pending losses:
 * losses.GENERATION.BATCHES.SAMPLES.LOST.BEGIN-ID, with the batch that was counted last.
 */
#ifndef FLEET_BATCH_QUEUE_NAMES_H
#define FLEET_BATCH_QUEUE_NAMES_H

#include "fleet/batch_queue_item.h"

#define QUEUE_NAME_BYTES 256

struct queue_key { /* of a batch: its place in the queue */
	uint64_t begin_ns;
	uint8_t id[FLEET_BATCH_ID_BYTES];
};

struct queue_entry {
	struct batch_queue_item item;
	uint64_t generation; /* of the pending losses that it reports */
	bool is_packed;
	uint64_t bytes; /* not in the name */
	bool is_busy; /* being sent */
};

struct queue_state { /* what a name of losses says */
	uint64_t generation; /* how often pending losses have been handed to a batch */
	struct batch_queue_losses pending;
	struct queue_key counted; /* if this batch is still there, it has been counted and is to be removed */
};

void queue_entry_name(const struct queue_entry *entry, char name[QUEUE_NAME_BYTES]);
/* False: it is no such name. */
bool queue_entry_parse(const char *name, struct queue_entry *entry);
void queue_state_name(const struct queue_state *state, char name[QUEUE_NAME_BYTES]);
bool queue_state_parse(const char *name, struct queue_state *state);

#endif
