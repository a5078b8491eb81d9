/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - defines the batch: the profile of one window of time with its labels, as agents send it to a store and as
 * a store answers queries. docs/schema/fleet.proto describes its bytes.
 *
 * A batch owns all that it points to, and is immutable once made; any thread may read it. fleet_batch_read makes one
 * from bytes of anybody; fleet_batch_make makes one from a profile. Samples' states are the profile's FACET_STATE.
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
#define FLEET_BATCH_BYTES    (64U << 20) /* of an encoded batch, decompressed */
#define FLEET_ITEMS	     (1U << 20) /* strings, sets, binaries, locations, stacks and threads, of each */
#define FLEET_EVENTS	     1024
#define FLEET_FRAMES	     (1U << 21) /* of all locations */
#define FLEET_SAMPLES	     (1U << 21)
#define FLEET_STACK_DEPTH    8192 /* locations: what fits into a record of the kernel */

struct fleet_losses { /* since the agent's previous batch */
	uint64_t lost_samples; /* the kernel had no room for them */
	uint64_t dropped_batches, dropped_samples; /* the queue on disk had no room for them */
	uint64_t own_cpu_ns, own_bytes; /* of the agent: CPU time in this window, memory without mapped files */
	uint64_t frequency_hz; /* at which the window was sampled */
	/* Of an answer: windows that it adds up, and those of them in which waits were measured; 0: not known. */
	uint64_t windows, wait_windows;
};

struct fleet_batch {
	uint8_t id[FLEET_BATCH_ID_BYTES];
	uint64_t begin_ns, end_ns; /* since 1970 */
	struct fleet_labels labels; /* of all samples */
	const struct fleet_labels *sets; /* of threads; set 0 is empty */
	size_t set_count;
	const uint32_t *set_of_thread; /* by the profile's threads */
	const struct profile *profile;
	const bool
		*symbols_left_out; /* by the profile's frames: the receiver has their symbols; NULL: none is left out */
	struct fleet_losses losses;
	struct arena *arena; /* of the arrays */
};

/* Takes over the profile and copies the rest of the parts; on failure the profile stays the caller's. */
TALLY_MUST_CHECK enum tally_status fleet_batch_make(
	const struct fleet_batch *parts, struct profile *profile, struct fleet_batch **batch, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status fleet_batch_read(
	struct tally_bytes bytes, struct fleet_batch **batch, struct tally_error *err);
void fleet_batch_destroy(struct fleet_batch *batch);

/* The encoded bytes are appended to out. leaves_out, by the profile's frames: the receiver has the symbols of their
 * locations; NULL: all are written. Symbols of locations that do not last (batch_locations.h) are always written.
 * TALLY_LIMIT: the batch is larger than fleet_batch_read accepts. */
TALLY_MUST_CHECK enum tally_status fleet_batch_write(
	const struct fleet_batch *batch, const bool *leaves_out, struct text *out, struct tally_error *err);
/* Which field a batch of a window lacks that a store needs; NULL: none. A field that is absent is read as zero, by which
 * different things would become one: all batches without an ID, for example, would be copies of each other. */
const char *fleet_batch_lacks(const struct fleet_batch *batch);
/* Of all samples. */
uint64_t fleet_batch_sample_count(const struct fleet_batch *batch);

#endif
