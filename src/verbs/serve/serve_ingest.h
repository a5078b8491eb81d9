/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve_ingest.h - decodes batches and stores those that arrive at the same time with one commit.
 *
 * Each request waits in its own thread until its batch is on disk: while one thread commits, other batches are queued,
 * and the next thread commits all of them. Memory for batches in progress is bounded, and reserved before they are
 * decompressed; a request that gets no memory for some time fails and must be repeated. Thread-safe.
 *
 *	serve_ingest_init(&ingest, &store, &store_lock);
 *	status = serve_ingest_add(&ingest, body, is_packed, &receipt, err);
 */
#ifndef VERBS_SERVE_SERVE_INGEST_H
#define VERBS_SERVE_SERVE_INGEST_H

#include <pthread.h>

#include "store/store.h"

struct serve_waiting; /* A batch that is decoded but not stored yet. */

struct serve_ingest {
	struct store *store;
	pthread_mutex_t *store_lock;
	/* The following members are private. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct serve_waiting *first, *last;
	size_t held_bytes; /* Memory reserved for batches in progress. */
	bool is_committing;
	uint64_t failed_ns; /* Time (clock_ns) of the last commit if it failed, otherwise 0. */
	struct tally_error failure;
};

/* Returns false if the locks cannot be created. */
bool serve_ingest_init(struct serve_ingest *ingest, struct store *store, pthread_mutex_t *store_lock);
void serve_ingest_deinit(struct serve_ingest *ingest);
/* Returns whether the last commit failed less than a minute ago; if so, sets why to its error. */
bool serve_ingest_fails(struct serve_ingest *ingest, struct tally_error *why);
/* Stores a batch, and returns when it is on disk. After CORRUPT, INVALID and LIMIT, the batch will never be accepted;
 * after other errors, the sender should retry. */
TALLY_MUST_CHECK enum tally_status serve_ingest_add(struct serve_ingest *ingest, struct tally_bytes body,
	bool is_packed, struct store_receipt *receipt, struct tally_error *err);

#endif
