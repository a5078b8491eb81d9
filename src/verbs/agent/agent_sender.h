/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_sender.h - sends the batches of a queue to a server, the oldest first, in a thread of its own.
 *
 * Owned by the caller, who keeps the queue open until it is destroyed. If the server cannot be reached or asks for
 * patience, the next attempt is made after a pause that doubles each time, up to five minutes, and is a little random so
 * that a fleet does not return at once. Symbols that this server has acknowledged are left out of later batches. Only
 * what the server has acknowledged leaves the queue.
 *
 *	agent_sender_create(&config, queue, &sender, err);
 *	agent_sender_wake(sender);	// there is another batch
 *	agent_sender_destroy(sender, 5000, &figures);
 */
#ifndef VERBS_AGENT_AGENT_SENDER_H
#define VERBS_AGENT_AGENT_SENDER_H

#include "fleet/batch_queue.h"

struct agent_sender_config { /* borrowed */
	const char *program; /* for messages */
	const char *url, *token, *ca_file;
};

struct agent_sender_figures {
	uint64_t batches, samples; /* that the server has acknowledged */
};

struct agent_sender;
TALLY_MUST_CHECK enum tally_status agent_sender_create(const struct agent_sender_config *config,
	struct batch_queue *queue, struct agent_sender **sender, struct tally_error *err);
void agent_sender_wake(struct agent_sender *sender);
/* Waits at most so long until the queue is empty, or cannot be emptied now. NULL is allowed. */
void agent_sender_destroy(struct agent_sender *sender, int patience_ms, struct agent_sender_figures *figures);

/* The pause before attempt number `failures` + 1, in ms, without the random part. */
uint64_t agent_sender_pause_ms(unsigned failures, unsigned retry_after_s);

#endif
