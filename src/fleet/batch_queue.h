/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_queue.h - stores encoded batches in a folder until they have been sent, limits their size and age, and counts
 * exactly what it drops.
 *
 * Each batch is a file that appears complete or not at all. Dropped batches (the oldest if there are too many or the
 * disk is full, those that cannot be written, and those that the receiver refuses) become pending losses, which the
 * next batch must report. Pending losses are encoded in the name of an empty file, so that counting needs no disk space
 * and each step is one rename. Thus the samples of delivered batches, of the queue, of pending losses, and of losses
 * that batches in the queue report add up to the samples of all batches that were added, even after kill -9 at any step
 * and with a full disk. Only losses that cannot be recorded by a rename are forgotten if the process then ends.
 *
 * One process owns a folder (by a lock file); its threads may call any function at any time. TALLY_IO and TALLY_DENIED
 * mean that a system call failed.
 *
 *	batch_queue_open("/var/lib/tally/queue", &(struct batch_queue_limits){64 << 20, day_ns}, &queue, err);
 *	item.reported = batch_queue_pending(queue);   // which the losses of the batch include
 *	batch_queue_add(queue, &item, bytes, err);
 *	if (batch_queue_oldest(queue, &item, &bytes, err) == TALLY_OK)
 *		send(&bytes) ? batch_queue_sent(queue, item.id) : batch_queue_later(queue, item.id);
 *	batch_queue_close(queue);
 */
#ifndef FLEET_BATCH_QUEUE_H
#define FLEET_BATCH_QUEUE_H

#include "base/text.h"
#include "fleet/batch_queue_item.h"

struct batch_queue_limits {
	uint64_t max_bytes; /* Total size of all files. */
	uint64_t max_age_ns; /* Maximum age relative to the newest batch; 0 for any. */
};

struct batch_queue_figures {
	uint64_t batches, samples, bytes; /* Number, samples and total size of the batches in the queue. */
};

struct batch_queue;
TALLY_MUST_CHECK enum tally_status batch_queue_open(const char *folder, const struct batch_queue_limits *limits,
	struct batch_queue **queue, struct tally_error *err);
void batch_queue_close(struct batch_queue *queue);
/* Returns the losses that the next added batch must report. */
struct batch_queue_losses batch_queue_pending(struct batch_queue *queue);
/* Adds a batch. On failure it is added to the pending losses, unless TALLY_INVALID is returned: the item reports more
 * losses than are pending, or its ID is in the queue. */
TALLY_MUST_CHECK enum tally_status batch_queue_add(struct batch_queue *queue, const struct batch_queue_item *item,
	struct tally_bytes bytes, struct tally_error *err);
/* Reads the oldest batch that is not being sent into bytes, which are replaced; TALLY_END if there is none. The batch
 * is not dropped before batch_queue_sent, batch_queue_refused or batch_queue_later is called for it. */
TALLY_MUST_CHECK enum tally_status batch_queue_oldest(
	struct batch_queue *queue, struct batch_queue_item *item, struct text *bytes, struct tally_error *err);
/* Removes a batch of batch_queue_oldest that was delivered. */
void batch_queue_sent(struct batch_queue *queue, const uint8_t id[FLEET_BATCH_ID_BYTES]);
/* Removes a batch of batch_queue_oldest that will never be accepted, and counts it as lost. */
void batch_queue_refused(struct batch_queue *queue, const uint8_t id[FLEET_BATCH_ID_BYTES]);
/* Returns a batch of batch_queue_oldest to the queue, to be sent again. */
void batch_queue_later(struct batch_queue *queue, const uint8_t id[FLEET_BATCH_ID_BYTES]);
struct batch_queue_figures batch_queue_figures(struct batch_queue *queue);

#endif
