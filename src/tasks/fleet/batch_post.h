/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_post.h - sends an encoded batch to a profile server, and returns the result.
 *
 *	status = batch_post(client, bytes, &receipt, err);   // IO if no complete answer arrived: try again later
 *	if (receipt.outcome == BATCH_LATER) wait(receipt.retry_after_s);
 */
#ifndef TASKS_FLEET_BATCH_POST_H
#define TASKS_FLEET_BATCH_POST_H

#include "fleet/batch.h"
#include "fleet/http_client.h"

#define BATCH_STORE_BYTES 16

enum batch_outcome {
	BATCH_STORED,
	BATCH_DUPLICATE, /* The server already has the batch. */
	BATCH_LACKS_SYMBOLS, /* Nothing was stored; the batch must be sent again with all of its symbols. */
	BATCH_REFUSED, /* The batch will never be accepted. */
	BATCH_DENIED, /* The token is missing or wrong. */
	BATCH_LATER, /* The server is busy, its store is not available, or something else has answered in its place. */
};
/* Returns whether an HTTP status is about the request's body. Others (redirects, 404, 405 ...) are about the server,
 * its address or a proxy, and change when these are repaired. */
bool batch_status_refuses(unsigned status);
/* Returns whether it makes sense to try again soon, because the server is busy or restarts. */
bool batch_status_is_busy(unsigned status);

struct batch_receipt {
	enum batch_outcome outcome;
	uint64_t samples; /* Number of samples that were added. */
	uint8_t store[BATCH_STORE_BYTES]; /* ID of the server's store; valid for outcomes before BATCH_REFUSED. */
	unsigned status, retry_after_s; /* HTTP status, and seconds until a retry. */
	int64_t ahead_s; /* Seconds by which this machine's clock is ahead; see struct http_answer. */
	char sentence[320]; /* Message of the server; valid for BATCH_REFUSED and later outcomes. */
};

/* bytes may be a zstd frame, which is detected. Returns INVALID if the answer is not from such a server. */
TALLY_MUST_CHECK enum tally_status batch_post(
	struct http_client *client, struct tally_bytes bytes, struct batch_receipt *receipt, struct tally_error *err);
/* Works like fleet_batch_read, for bytes that may be compressed. */
TALLY_MUST_CHECK enum tally_status batch_unpack(
	struct tally_bytes bytes, struct fleet_batch **batch, struct tally_error *err);
/* Returns whether the bytes of a batch are compressed. */
bool batch_is_packed(struct tally_bytes bytes);
/* Extracts the message of an error answer: {"error": "..."}, or a description of its status. */
void batch_answer_sentence(const struct http_answer *answer, char *sentence, size_t bytes);

#endif
