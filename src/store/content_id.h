/* SPDX-License-Identifier: Apache-2.0 */
/*
 * content_id.h - computes the IDs of label sets, binaries, locations, stacks and names from their contents, so that
 * every store gives equal things the same ID without asking.
 *
 * The ID is SipHash-2-4 (Aumasson and Bernstein, 2012) with the key 0 of a run of bytes: the kind as a number, then the
 * parts in order, each number as 8 bytes with the lowest first, each text as its length, a number, and its bytes. It is
 * the same on every machine and must never change: stores keep it. 0 is no ID; a hash of 0 becomes 1.
 *
 * 64 bits: among n things the probability that any two share an ID is n^2 / 2^65, 0.03 % for 10^8 stacks and 3 in 100
 * million for 10^6. One of the two would then be shown as the other. The hash does not protect against senders who
 * search for such pairs: whoever may send batches can make up whole stacks anyway.
 *
 *	struct content_id c = content_id_begin(CONTENT_NAME);
 *	content_id_text(&c, name);
 *	uint64_t id = content_id_end(&c);
 */
#ifndef STORE_CONTENT_ID_H
#define STORE_CONTENT_ID_H

#include "base/bytes.h"

enum content_kind { /* numbers are kept in stores */
	CONTENT_LABELS = 1,
	CONTENT_BINARY = 2,
	CONTENT_LOCATION = 3,
	CONTENT_STACK = 4,
	CONTENT_NAME = 5,
	CONTENT_THREAD = 6,
	CONTENT_BATCH = 7, /* a recording that is pushed */
	CONTENT_SERIES = 8
};

struct content_id {
	uint64_t v[4];
	uint64_t word; /* bytes that do not fill a word yet */
	uint64_t bytes; /* that were added */
};

struct content_id content_id_begin(enum content_kind kind);
void content_id_number(struct content_id *c, uint64_t number);
void content_id_text(struct content_id *c, struct tally_str text);
uint64_t content_id_end(struct content_id *c);

#endif
