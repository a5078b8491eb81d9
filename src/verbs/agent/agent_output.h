/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_output.h - takes the agent's batches: into a folder as files, or through the queue on disk to a server.
 *
 * Owned by the caller. A batch that could not be kept is counted, and its figures are what the next batch reports as
 * dropped. One thread; sending has a thread of its own.
 *
 *	agent_output_open(&config, &output, err);
 *	facts.losses.dropped_samples = agent_output_pending(output).dropped_samples; ...
 *	agent_output_put(output, &batch, err);
 *	agent_output_close(output, &totals);
 */
#ifndef VERBS_AGENT_AGENT_OUTPUT_H
#define VERBS_AGENT_AGENT_OUTPUT_H

#include "verbs/agent/agent_window.h"

struct agent_output_config { /* borrowed until close */
	const char *program; /* for messages */
	const char *to; /* URL or folder */
	const char *queue; /* folder, for URLs */
	uint64_t queue_bytes;
	const char *token, *ca_file;
};

struct agent_output_totals {
	uint64_t kept_batches, kept_samples; /* in the folder, or in the queue */
	uint64_t sent_batches, sent_samples; /* that the server has acknowledged */
	uint64_t waiting_batches, waiting_samples; /* in the queue */
	uint64_t dropped_batches, dropped_samples;
};

struct agent_output;
TALLY_MUST_CHECK enum tally_status agent_output_open(
	const struct agent_output_config *config, struct agent_output **output, struct tally_error *err);
/* The losses of earlier batches that the next one is to report: dropped_* and lost_samples. */
struct fleet_losses agent_output_pending(struct agent_output *output);
/* reported: what agent_output_pending said for this batch. A failure is counted; err says why. */
TALLY_MUST_CHECK enum tally_status agent_output_put(struct agent_output *output, const struct agent_batch *batch,
	const struct fleet_losses *reported, struct tally_error *err);
/* Counts a batch that could not be made. */
void agent_output_drop(
	struct agent_output *output, uint64_t samples, uint64_t lost_samples, const struct fleet_losses *reported);
/* For a server, waits some seconds until what waits is sent. NULL is allowed. */
void agent_output_close(struct agent_output *output, struct agent_output_totals *totals);

#endif
