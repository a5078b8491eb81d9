/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/serve/serve_ingest.h"

#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "fleet/batch_pack.h"

#define COMMIT_BATCHES 256
/* Maximum size of the encoded batches of a commit; a single larger batch is committed alone. */
#define COMMIT_BYTES ((size_t)64 << 20)
#define HELD_BYTES   ((size_t)512 << 20) /* Estimated memory that the batches in progress may use. */
/* Measured number of bytes of memory per byte of an encoded batch that consists of the smallest entries. */
#define DECODED_TIMES	    12
#define SERVE_INGEST_WAIT_S 30 /* Maximum time to wait for memory. */
/* Period after a failed commit in which the server reports itself as unhealthy. Agents retry within it, unless a
 * load balancer has removed the server. */
#define FAILURE_COUNTS_NS UINT64_C(60000000000)

struct serve_waiting {
	struct serve_waiting *next;
	const struct fleet_batch *batch;
	size_t bytes;
	bool is_done;
	enum tally_status status;
	struct store_receipt receipt;
	struct tally_error err;
};

bool serve_ingest_init(struct serve_ingest *ingest, struct store *store, pthread_mutex_t *store_lock)
{
	*ingest = (struct serve_ingest){.store = store, .store_lock = store_lock};
	return pthread_mutex_init(&ingest->lock, NULL) == 0 && pthread_cond_init(&ingest->changed, NULL) == 0;
}

void serve_ingest_deinit(struct serve_ingest *ingest)
{
	pthread_cond_destroy(&ingest->changed);
	pthread_mutex_destroy(&ingest->lock);
}

/* Waits until there is room for the batch. A batch that is larger than all of the room waits until no other batch is
 * in progress. */
static enum tally_status serve_ingest_hold(struct serve_ingest *ingest, size_t bytes, struct tally_error *err)
{
	struct timespec due;
	int code = 0;
	clock_gettime(CLOCK_REALTIME, &due);
	due.tv_sec += SERVE_INGEST_WAIT_S;
	pthread_mutex_lock(&ingest->lock);
	while (code == 0 && ingest->held_bytes > 0 && ingest->held_bytes + bytes > HELD_BYTES)
		code = pthread_cond_timedwait(&ingest->changed, &ingest->lock, &due);
	if (code == 0)
		ingest->held_bytes += bytes;
	pthread_mutex_unlock(&ingest->lock);
	return code == 0 ? TALLY_OK
			 : error_set(err, TALLY_IO,
				   "too many batches come at once, and there is no room for this one: try again later");
}

static void serve_ingest_release(struct serve_ingest *ingest, size_t bytes)
{
	pthread_mutex_lock(&ingest->lock);
	ingest->held_bytes -= bytes;
	pthread_cond_broadcast(&ingest->changed);
	pthread_mutex_unlock(&ingest->lock);
}

/* Removes the first batches from the queue, which must not be empty. */
static size_t take_waiting(struct serve_ingest *ingest, struct serve_waiting **taken)
{
	size_t count = 0, bytes = 0;
	while (ingest->first && count < COMMIT_BATCHES &&
		(count == 0 || bytes + ingest->first->bytes <= COMMIT_BYTES)) {
		taken[count] = ingest->first;
		bytes += taken[count]->bytes;
		ingest->first = taken[count]->next;
		count++;
	}
	if (!ingest->first)
		ingest->last = NULL;
	return count;
}

static void commit_taken(struct serve_ingest *ingest, struct serve_waiting **taken, size_t count)
{
	const struct fleet_batch *batches[COMMIT_BATCHES];
	struct store_receipt receipts[COMMIT_BATCHES] = {0};
	struct tally_error err = {0};
	for (size_t i = 0; i < count; i++)
		batches[i] = taken[i]->batch;
	pthread_mutex_lock(ingest->store_lock);
	enum tally_status status = store_ingest(ingest->store, batches, count, receipts, &err);
	for (size_t i = 0; i < count; i++) {
		taken[i]->status = status;
		taken[i]->err = err;
		taken[i]->receipt = receipts[i];
		if (status == TALLY_OK && receipts[i].refused)
			taken[i]->status = error_set(&taken[i]->err, TALLY_INVALID, "%s", receipts[i].refused);
	}
	pthread_mutex_unlock(ingest->store_lock);
}

bool serve_ingest_fails(struct serve_ingest *ingest, struct tally_error *why)
{
	pthread_mutex_lock(&ingest->lock);
	bool fails = ingest->failed_ns && clock_ns() - ingest->failed_ns < FAILURE_COUNTS_NS;
	if (fails)
		*why = ingest->failure;
	pthread_mutex_unlock(&ingest->lock);
	return fails;
}

/* Appends the batch to the queue and waits until it is stored. One of the waiting threads commits the batches of
 * all. */
static void serve_ingest_store(struct serve_ingest *ingest, struct serve_waiting *own)
{
	struct serve_waiting *taken[COMMIT_BATCHES];
	pthread_mutex_lock(&ingest->lock);
	if (ingest->last)
		ingest->last->next = own;
	else
		ingest->first = own;
	ingest->last = own;
	while (!own->is_done) {
		if (ingest->is_committing) {
			pthread_cond_wait(&ingest->changed, &ingest->lock);
			continue;
		}
		ingest->is_committing = true;
		size_t count = take_waiting(ingest, taken);
		pthread_mutex_unlock(&ingest->lock);
		commit_taken(ingest, taken, count);
		pthread_mutex_lock(&ingest->lock);
		/* A refusal concerns a single batch; any other failure concerns the store and all batches of the commit. */
		bool fails = taken[0]->status != TALLY_OK && !taken[0]->receipt.refused;
		ingest->failed_ns = fails ? clock_ns() : 0;
		if (fails)
			ingest->failure = taken[0]->err;
		for (size_t i = 0; i < count; i++)
			taken[i]->is_done = true;
		ingest->is_committing = false;
		pthread_cond_broadcast(&ingest->changed);
	}
	pthread_mutex_unlock(&ingest->lock);
}

/* bytes is an encoded batch for which room is held. */
static enum tally_status serve_ingest_decoded(
	struct serve_ingest *ingest, struct tally_bytes bytes, struct store_receipt *receipt, struct tally_error *err)
{
	struct fleet_batch *batch;
	enum tally_status status = fleet_batch_read(bytes, &batch, err);
	if (status != TALLY_OK)
		return status;
	const char *lacks = fleet_batch_lacks(batch);
	if (lacks) {
		status = error_set(err, TALLY_CORRUPT, "%s", lacks);
	} else {
		struct serve_waiting own = {.batch = batch, .bytes = bytes.len};
		serve_ingest_store(ingest, &own);
		status = own.status;
		if (status == TALLY_OK)
			*receipt = own.receipt;
		else if (err)
			*err = own.err;
	}
	fleet_batch_destroy(batch);
	return status;
}

enum tally_status serve_ingest_add(struct serve_ingest *ingest, struct tally_bytes body, bool is_packed,
	struct store_receipt *receipt, struct tally_error *err)
{
	struct text plain = {0};
	if (!is_packed && body.len > FLEET_BATCH_BYTES)
		return error_set(err, TALLY_LIMIT, "it has more than %u bytes", FLEET_BATCH_BYTES);
	size_t most = is_packed ? fleet_batch_unpacked_bytes(body, FLEET_BATCH_BYTES) : body.len;
	size_t room = most * DECODED_TIMES;
	enum tally_status status = serve_ingest_hold(ingest, room, err);
	if (status != TALLY_OK)
		return status;
	if (is_packed) {
		status = fleet_batch_decompress(body, most, &plain, err);
		body = (struct tally_bytes){(const uint8_t *)plain.data, plain.len};
	}
	if (status == TALLY_OK)
		status = serve_ingest_decoded(ingest, body, receipt, err);
	text_deinit(&plain);
	serve_ingest_release(ingest, room);
	return status;
}
