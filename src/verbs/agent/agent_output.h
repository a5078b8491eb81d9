/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_output.h - stores the agent's batches as files in a folder, or sends them to a server through a queue on disk.
 *
 * The caller owns the output. A batch that could not be stored is counted, and the next batch reports it as dropped.
 * The functions are called from one thread; sending has a thread of its own.
 *
 *	agent_output_open(&config, &output, err);
 *	reported = agent_output_pending(output);	// put into the facts of agent_window_encode
 *	agent_output_put(output, &batch, &reported, err);
 *	agent_output_close(output, &totals);
 */
#ifndef VERBS_AGENT_AGENT_OUTPUT_H
#define VERBS_AGENT_AGENT_OUTPUT_H

#include "verbs/agent/agent_window.h"

struct agent_output_config { /* The caller keeps it and its strings valid until agent_output_close. */
	const char *program; /* The program's name in messages. */
	const char *to; /* The URL of a server, or a folder. */
	const char *queue; /* The folder of the queue; unused if batches are written to a folder. */
	uint64_t queue_bytes; /* Maximum size of the queue. */
	const char *token, *ca_file; /* For the server; NULL if not given. */
};

struct agent_output_totals {
	uint64_t kept_batches, kept_samples; /* Written to the folder or the queue. */
	uint64_t sent_batches, sent_samples; /* Acknowledged by the server. */
	uint64_t waiting_batches, waiting_samples; /* Still in the queue. */
	uint64_t dropped_batches, dropped_samples;
};

struct agent_output;
TALLY_MUST_CHECK enum tally_status agent_output_open(
	const struct agent_output_config *config, struct agent_output **output, struct tally_error *err);
/* Returns the losses of earlier batches that the next one must report; only dropped_* and lost_samples are set. */
struct fleet_losses agent_output_pending(struct agent_output *output);
/* Stores a batch. reported is the result of agent_output_pending for this batch. A failure is counted as a loss. */
TALLY_MUST_CHECK enum tally_status agent_output_put(struct agent_output *output, const struct agent_batch *batch,
	const struct fleet_losses *reported, struct tally_error *err);
/* Counts a batch that could not be encoded; reported is as for agent_output_put. */
void agent_output_drop(
	struct agent_output *output, uint64_t samples, uint64_t lost_samples, const struct fleet_losses *reported);
/* Sends the batches that are still queued, for up to about five seconds, and frees output, which may be NULL. Sets
 * totals. */
void agent_output_close(struct agent_output *output, struct agent_output_totals *totals);

#endif
