/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_window.h - encodes the samples of a window as a batch.
 *
 * The caller owns the structures. Every sample is either in a batch or counted as lost in one: samples that are missing
 * in the profile because their records were damaged count as lost in the same batch; the caller reports the samples of
 * a batch that could not be encoded as losses of the next one. Not thread-safe.
 *
 *	agent_window_init(&window, &labels, has_service, err);
 *	agent_window_encode(&window, profile, &facts, &batch, err);	// destroys the profile
 *	... batch.bytes ...; agent_batch_deinit(&batch); agent_window_deinit(&window);
 */
#ifndef VERBS_AGENT_AGENT_WINDOW_H
#define VERBS_AGENT_AGENT_WINDOW_H

#include "fleet/batch.h"
#include "tasks/fleet/thread_labels.h"

struct agent_window {
	struct fleet_labels labels; /* Attached to all samples; borrowed. */
	struct thread_labels *threads;
};

struct agent_window_facts {
	uint64_t begin_ns, end_ns; /* Nanoseconds since 1970. */
	uint64_t samples; /* Number of samples read from the ring buffers. */
	/* Losses to report in this batch, except samples that are missing in the profile. */
	struct fleet_losses losses;
};

struct agent_batch {
	uint8_t id[FLEET_BATCH_ID_BYTES];
	uint64_t begin_ns;
	uint64_t samples, lost_samples; /* Samples in the batch, and those that it reports as lost. */
	struct text bytes; /* Compressed if the build supports it. */
};

TALLY_MUST_CHECK enum tally_status agent_window_init(
	struct agent_window *window, const struct fleet_labels *labels, bool has_service, struct tally_error *err);
void agent_window_deinit(struct agent_window *window);
/* Takes ownership of the profile, also on failure. */
TALLY_MUST_CHECK enum tally_status agent_window_encode(struct agent_window *window, struct profile *profile,
	const struct agent_window_facts *facts, struct agent_batch *batch, struct tally_error *err);
void agent_batch_deinit(struct agent_batch *batch);

#endif
