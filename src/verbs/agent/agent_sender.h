/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_sender.h - sends the batches of a queue to a server, the oldest first, in a thread of its own.
 *
 * The caller owns the sender and keeps the queue open until the sender is destroyed. If the server cannot be reached or
 * asks for a later attempt, the sender retries after a pause that doubles each time, up to five minutes, with a random
 * part so that the agents of a fleet do not retry at once. Symbols that the server has acknowledged are omitted from
 * later batches. A batch leaves the queue when the server has acknowledged or refused it.
 *
 *	agent_sender_create(&config, queue, &sender, err);
 *	agent_sender_wake(sender);	// there is another batch
 *	agent_sender_destroy(sender, 5000, &figures);
 */
#ifndef VERBS_AGENT_AGENT_SENDER_H
#define VERBS_AGENT_AGENT_SENDER_H

#include "fleet/batch_queue.h"

struct agent_sender_config { /* Copied; the strings are borrowed until agent_sender_destroy. */
	const char *program; /* The program's name in messages. */
	const char *url, *token, *ca_file;
};

struct agent_sender_figures {
	uint64_t batches, samples; /* Acknowledged by the server. */
};

struct agent_sender;
TALLY_MUST_CHECK enum tally_status agent_sender_create(const struct agent_sender_config *config,
	struct batch_queue *queue, struct agent_sender **sender, struct tally_error *err);
/* Wakes the thread after a batch was added to the queue. */
void agent_sender_wake(struct agent_sender *sender);
/* Waits until the queue is empty or sending fails, for about patience_ms, then stops the thread. sender may be NULL. */
void agent_sender_destroy(struct agent_sender *sender, int patience_ms, struct agent_sender_figures *figures);

/* Returns the pause in ms after this number of consecutive failures, without the random part. It is at least
 * retry_after_s, the pause in seconds that the server requested (0 if it requested none). */
uint64_t agent_sender_pause_ms(unsigned failures, unsigned retry_after_s);

#endif
