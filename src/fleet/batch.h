/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - defines the batch: a labelled profile of one time window, which agents send to a store and which a store
 * returns for queries. docs/schema/fleet.proto describes its bytes.
 *
 * A batch owns all that it points to and is immutable; any thread may read it. fleet_batch_read decodes untrusted
 * bytes; fleet_batch_make converts a profile. The state of a sample's thread is the profile's facet FACET_STATE.
 *
 * Bad input: TALLY_CORRUPT with the offset in the bytes, or TALLY_LIMIT with the limit that was exceeded. Memory is
 * bounded by a small multiple of the bytes.
 *
 *	fleet_batch_read(bytes, &batch, err);
 *	const struct fleet_label *host = fleet_labels_find(&batch->labels, STR("host"));
 *	fleet_batch_destroy(batch);
 */
#ifndef FLEET_BATCH_H
#define FLEET_BATCH_H

#include "base/text.h"
#include "fleet/labels.h"
#include "profile/profile.h"

#define FLEET_BATCH_ID_BYTES 16
#define FLEET_BATCH_BYTES    (64U << 20) /* Maximum size of an encoded batch, decompressed. */
#define FLEET_ITEMS	     (1U << 20) /* Maximum number of items per table: strings, sets, stacks ... */
#define FLEET_EVENTS	     1024
#define FLEET_FRAMES	     (1U << 21) /* Maximum number of frames of all locations. */
#define FLEET_SAMPLES	     (1U << 21)
#define FLEET_STACK_DEPTH    8192 /* Maximum number of locations: those that fit into a kernel record. */

struct fleet_losses { /* Losses since the previous batch of the agent. */
	uint64_t lost_samples; /* Samples that the kernel lost. */
	uint64_t dropped_batches, dropped_samples; /* Batches that the agent's queue dropped, and their samples. */
	uint64_t own_cpu_ns, own_bytes; /* CPU time of the agent in this window, and its memory without mapped files. */
	uint64_t frequency_hz; /* Sampling frequency of the window. */
	/* For the answer to a query: number of its windows, and of those in which waits were measured; 0 if unknown. */
	uint64_t windows, wait_windows;
};

struct fleet_batch {
	uint8_t id[FLEET_BATCH_ID_BYTES];
	uint64_t begin_ns, end_ns; /* Since 1970. */
	struct fleet_labels labels; /* Labels of all samples. */
	const struct fleet_labels *sets; /* Label sets of threads; set 0 is empty. */
	size_t set_count;
	const uint32_t *set_of_thread; /* Indexed by threads of the profile. */
	const struct profile *profile;
	/* Indexed by frames of the profile: true for those without symbols, because the receiver has them. NULL if
	 * there are no such frames. */
	const bool *symbols_left_out;
	struct fleet_losses losses;
	struct arena *arena; /* Owns the arrays. */
};

/* Makes a batch that owns the profile and copies of all other parts; on failure the caller still owns the profile. If
 * parts->set_of_thread is NULL, all threads have set 0, and parts->set_count may be 0. */
TALLY_MUST_CHECK enum tally_status fleet_batch_make(
	const struct fleet_batch *parts, struct profile *profile, struct fleet_batch **batch, struct tally_error *err);
/* Decodes a batch, which does not borrow from bytes. */
TALLY_MUST_CHECK enum tally_status fleet_batch_read(
	struct tally_bytes bytes, struct fleet_batch **batch, struct tally_error *err);
void fleet_batch_destroy(struct fleet_batch *batch);

/* Appends the encoded bytes to out. leaves_out is indexed by frames of the profile and true for those with symbols that
 * the receiver has; NULL to write all. Symbols of locations that are not lasting (batch_locations.h) are always
 * written. Returns TALLY_LIMIT if the batch is larger than fleet_batch_read accepts. */
TALLY_MUST_CHECK enum tally_status fleet_batch_write(
	const struct fleet_batch *batch, const bool *leaves_out, struct text *out, struct tally_error *err);
/* Returns a sentence about a missing field that a store needs; NULL if all are present. Absent fields are read as zero,
 * so that, for example, all batches without an ID would be duplicates of each other. */
const char *fleet_batch_lacks(const struct fleet_batch *batch);
/* Returns the sum of the counts of all samples. */
uint64_t fleet_batch_sample_count(const struct fleet_batch *batch);

#endif
