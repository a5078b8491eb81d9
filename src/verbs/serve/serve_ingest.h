/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve_ingest.h - decodes batches and stores those that come at the same time with one commit.
 *
 * Each request waits in its own thread until its batch is on disk: while one of them commits, the others gather, and
 * the next one commits all of them. Memory for batches in flight is bounded, from before they are decompressed; who
 * finds no room for a while is told to try again. Any number of threads.
 *
 *	serve_ingest_init(&ingest, &store, &store_lock);
 *	status = serve_ingest_add(&ingest, body, is_packed, &receipt, err);
 */
#ifndef VERBS_SERVE_SERVE_INGEST_H
#define VERBS_SERVE_SERVE_INGEST_H

#include <pthread.h>

#include "store/store.h"

struct serve_waiting; /* a batch that is decoded and not yet stored */

struct serve_ingest {
	struct store *store;
	pthread_mutex_t *store_lock;
	/* private */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct serve_waiting *first, *last;
	size_t held_bytes; /* of memory that batches in flight may take */
	bool is_committing;
	uint64_t failed_ns; /* by clock_ns: when a commit failed last; 0: none has since the last that succeeded */
	struct tally_error failure;
};

/* False: the system has no room for locks. */
bool serve_ingest_init(struct serve_ingest *ingest, struct store *store, pthread_mutex_t *store_lock);
void serve_ingest_deinit(struct serve_ingest *ingest);
/* Whether batches could not be written of late; why: of the last one. */
bool serve_ingest_fails(struct serve_ingest *ingest, struct tally_error *why);
/* CORRUPT, INVALID, LIMIT: the batch will never be accepted. Others: the sender should try again. */
TALLY_MUST_CHECK enum tally_status serve_ingest_add(struct serve_ingest *ingest, struct tally_bytes body,
	bool is_packed, struct store_receipt *receipt, struct tally_error *err);

#endif
