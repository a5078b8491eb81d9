/* SPDX-License-Identifier: Apache-2.0 */
/*
 * content_id.h - computes the IDs of label sets, binaries, locations, stacks and names from their contents, so that
 * equal objects have the same ID in every store.
 *
 * The ID is SipHash-2-4 (Aumasson and Bernstein, 2012) with the key 0 of a byte sequence: the kind as a number, then
 * the parts in order. Numbers are 8 bytes in little-endian order; texts are their length, as a number, and their bytes.
 * IDs are the same on every machine and must never change, because stores contain them. 0 is no ID; a hash of 0 becomes
 * 1.
 *
 * The probability that any two of n objects share a 64-bit ID is n^2 / 2^65: 0.03 % for 10^8 stacks and 3 in 100
 * million for 10^6. One of the two would then be shown as the other. The hash does not protect against senders that
 * search for such collisions, because whoever may send batches can also invent stacks.
 *
 *	struct content_id c = content_id_begin(CONTENT_NAME);
 *	content_id_text(&c, name);
 *	uint64_t id = content_id_end(&c);
 */
#ifndef STORE_CONTENT_ID_H
#define STORE_CONTENT_ID_H

#include "base/bytes.h"

enum content_kind { /* The numbers are part of IDs in stores and must not change. */
	CONTENT_LABELS = 1,
	CONTENT_BINARY = 2,
	CONTENT_LOCATION = 3,
	CONTENT_STACK = 4,
	CONTENT_NAME = 5,
	CONTENT_THREAD = 6,
	CONTENT_BATCH = 7, /* A recording that is pushed to a store. */
	CONTENT_SERIES = 8
};

struct content_id {
	uint64_t v[4];
	uint64_t word; /* Bytes that do not fill a word yet. */
	uint64_t bytes; /* Number of bytes added so far. */
};

struct content_id content_id_begin(enum content_kind kind);
void content_id_number(struct content_id *c, uint64_t number);
void content_id_text(struct content_id *c, struct tally_str text);
uint64_t content_id_end(struct content_id *c);

#endif
