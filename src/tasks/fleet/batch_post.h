/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_post.h - sends an encoded batch to a server of profiles, and says what became of it.
 *
 *	status = batch_post(client, bytes, &receipt, err);   // IO: no complete answer came: try again later
 *	if (receipt.outcome == BATCH_LATER) wait(receipt.retry_after_s);
 */
#ifndef TASKS_FLEET_BATCH_POST_H
#define TASKS_FLEET_BATCH_POST_H

#include "fleet/batch.h"
#include "fleet/http_client.h"

#define BATCH_STORE_BYTES 16

enum batch_outcome {
	BATCH_STORED,
	BATCH_DUPLICATE, /* it was there already */
	BATCH_LACKS_SYMBOLS, /* nothing was stored: send it again with all of its symbols */
	BATCH_REFUSED, /* it will never be accepted */
	BATCH_DENIED, /* the token is missing or wrong */
	BATCH_LATER, /* the server is busy, its store is not available, or something else answers in its place */
};
/* Whether a status of HTTP is about the request's body. Others (redirects, 404, 405 ...) are about the server, its
 * address or a proxy, and change when these are repaired. */
bool batch_status_refuses(unsigned status);
/* Whether it makes sense to try again soon: the server is busy or restarts. */
bool batch_status_is_busy(unsigned status);

struct batch_receipt {
	enum batch_outcome outcome;
	uint64_t samples; /* that were added */
	uint8_t store[BATCH_STORE_BYTES]; /* of outcomes before REFUSED */
	unsigned status, retry_after_s; /* of HTTP */
	int64_t ahead_s; /* of this machine's clock, as http_answer has it */
	char sentence[320]; /* of the server, from REFUSED on */
};

/* bytes: as they are, or a zstd frame, which is recognised. INVALID: the answer is none of such a server. */
TALLY_MUST_CHECK enum tally_status batch_post(
	struct http_client *client, struct tally_bytes bytes, struct batch_receipt *receipt, struct tally_error *err);
/* fleet_batch_read for bytes that may be compressed. */
TALLY_MUST_CHECK enum tally_status batch_unpack(
	struct tally_bytes bytes, struct fleet_batch **batch, struct tally_error *err);
/* Whether the bytes of a batch are compressed. */
bool batch_is_packed(struct tally_bytes bytes);
/* The sentence of an answer that is an error: {"error": "..."}; or what its status says. */
void batch_answer_sentence(const struct http_answer *answer, char *sentence, size_t bytes);

#endif
