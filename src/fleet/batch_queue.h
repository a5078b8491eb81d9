/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_queue.h - keeps encoded batches in a folder until they have been sent, within a limit of bytes and age, and
 * counts exactly what it drops.
 *
 * Each batch is a file that appears complete or not at all. Whatever is dropped (the oldest first, when there are too
 * many or the disk is full; a batch that cannot be written; one that its receiver refuses) becomes a pending loss,
 * which the next batch has to report. Pending losses are the name of an empty file, so that counting takes no space
 * and each step is one rename. So the samples of delivered batches, of the queue, of pending losses, and of losses that
 * batches in the queue report add up to the samples of all batches that were added, also after kill -9 at any step, and
 * with a full disk. Only what could not be renamed either is forgotten if the process then ends.
 *
 * One process owns a folder (a lock file); its threads may call any function at any time. TALLY_IO, TALLY_DENIED: a
 * system call failed.
 *
 *	batch_queue_open("/var/lib/tally/queue", &(struct batch_queue_limits){64 << 20, day_ns}, &queue, err);
 *	item.reported = batch_queue_pending(queue);   // and the losses of the batch say so
 *	batch_queue_add(queue, &item, bytes, err);
 *	while (batch_queue_oldest(queue, &item, &bytes, err) == TALLY_OK)
 *		send(&bytes) ? batch_queue_sent(queue, item.id) : batch_queue_later(queue, item.id);
 *	batch_queue_close(queue);
 */
#ifndef FLEET_BATCH_QUEUE_H
#define FLEET_BATCH_QUEUE_H

#include "base/text.h"
#include "fleet/batch_queue_item.h"

struct batch_queue_limits {
	uint64_t max_bytes; /* of all files */
	uint64_t max_age_ns; /* before the newest batch; 0: any */
};

struct batch_queue_figures {
	uint64_t batches, samples, bytes; /* that wait */
};

struct batch_queue;
TALLY_MUST_CHECK enum tally_status batch_queue_open(const char *folder, const struct batch_queue_limits *limits,
	struct batch_queue **queue, struct tally_error *err);
void batch_queue_close(struct batch_queue *queue);
/* To be reported by the next batch that is added. */
struct batch_queue_losses batch_queue_pending(struct batch_queue *queue);
/* On failure the batch is lost, and pending losses have it; except for TALLY_INVALID: the item reports more than is
 * pending, or its ID is in the queue. */
TALLY_MUST_CHECK enum tally_status batch_queue_add(struct batch_queue *queue, const struct batch_queue_item *item,
	struct tally_bytes bytes, struct tally_error *err);
/* The oldest batch that nobody is sending; TALLY_END: there is none. bytes are replaced. The batch is not dropped until
 * one of the three functions below is called. */
TALLY_MUST_CHECK enum tally_status batch_queue_oldest(
	struct batch_queue *queue, struct batch_queue_item *item, struct text *bytes, struct tally_error *err);
/* Each of these ends what batch_queue_oldest began. The batch was delivered, and is dropped. */
void batch_queue_sent(struct batch_queue *queue, const uint8_t id[FLEET_BATCH_ID_BYTES]);
/* The batch will never be accepted: it is dropped and counted as lost. */
void batch_queue_refused(struct batch_queue *queue, const uint8_t id[FLEET_BATCH_ID_BYTES]);
/* The batch stays in the queue, to be sent again. */
void batch_queue_later(struct batch_queue *queue, const uint8_t id[FLEET_BATCH_ID_BYTES]);
struct batch_queue_figures batch_queue_figures(struct batch_queue *queue);

#endif
