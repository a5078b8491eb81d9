/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_window.h - makes the encoded batch of a window from the profile of its samples.
 *
 * Owned by the caller. Every sample that was taken is either in a batch or counted as lost in one: what a profile leaves
 * out (damaged records) is in the same batch's losses; what a batch that cannot be made had is reported by the next
 * one. One thread.
 *
 *	agent_window_init(&window, &labels, has_service, err);
 *	agent_window_encode(&window, profile, &facts, &batch, err);	// takes over the profile
 *	... batch.bytes ...; agent_batch_deinit(&batch); agent_window_deinit(&window);
 */
#ifndef VERBS_AGENT_AGENT_WINDOW_H
#define VERBS_AGENT_AGENT_WINDOW_H

#include "fleet/batch.h"
#include "tasks/fleet/thread_labels.h"

struct agent_window {
	struct fleet_labels labels; /* of all samples; borrowed */
	struct thread_labels *threads;
};

struct agent_window_facts {
	uint64_t begin_ns, end_ns; /* since 1970 */
	uint64_t samples; /* that were taken */
	struct fleet_losses losses; /* without what the profile leaves out */
};

struct agent_batch {
	uint8_t id[FLEET_BATCH_ID_BYTES];
	uint64_t begin_ns;
	uint64_t samples, lost_samples; /* in it; that it reports as lost */
	struct text bytes; /* compressed if the build can do that */
};

TALLY_MUST_CHECK enum tally_status agent_window_init(
	struct agent_window *window, const struct fleet_labels *labels, bool has_service, struct tally_error *err);
void agent_window_deinit(struct agent_window *window);
/* The profile is taken over in any case. */
TALLY_MUST_CHECK enum tally_status agent_window_encode(struct agent_window *window, struct profile *profile,
	const struct agent_window_facts *facts, struct agent_batch *batch, struct tally_error *err);
void agent_batch_deinit(struct agent_batch *batch);

#endif
