/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_queue_names.h - formats and parses the names of files of a queue, which contain its whole state. Private to
 * fleet/.
 *
 * The name of a batch is BEGIN-ID.SAMPLES.LOST.GENERATION.BATCHES.SAMPLES.LOST.batch, where the last three numbers are
 * the losses that it reports, with ".zst" appended if it is compressed. The name for pending losses is
 * losses.GENERATION.BATCHES.SAMPLES.LOST.BEGIN-ID, with the batch that was counted last.
 */
#ifndef FLEET_BATCH_QUEUE_NAMES_H
#define FLEET_BATCH_QUEUE_NAMES_H

#include "fleet/batch_queue_item.h"

#define QUEUE_NAME_BYTES 256

struct queue_key { /* Key of a batch, by which the queue is sorted. */
	uint64_t begin_ns;
	uint8_t id[FLEET_BATCH_ID_BYTES];
};

struct queue_entry { /* A batch in the queue. */
	struct batch_queue_item item;
	uint64_t generation; /* Generation of the pending losses that it reports. */
	bool is_packed; /* The file is compressed. */
	uint64_t bytes; /* Size of the file, which is not in the name. */
	bool is_busy; /* The batch is being sent. */
};

struct queue_state { /* Contents of the name for pending losses. */
	uint64_t generation; /* Number of batches that have reported pending losses. */
	struct batch_queue_losses pending;
	struct queue_key counted; /* The batch that was counted last; if its file still exists, it must be removed. */
};

void queue_entry_name(const struct queue_entry *entry, char name[QUEUE_NAME_BYTES]);
/* Returns false if the name has another form. */
bool queue_entry_parse(const char *name, struct queue_entry *entry);
void queue_state_name(const struct queue_state *state, char name[QUEUE_NAME_BYTES]);
bool queue_state_parse(const char *name, struct queue_state *state);

#endif
