/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_chains.h - joins the frames of a wait into one list: its call chain, then the call chain of the thread that
 * ended it.
 *
 * Between the parts is a frame that names the waker (BRANCH_END_WAKER; its address is the number of a name in the
 * index). If waits are followed, the time in which the waker itself waited is attributed to the thread that it waited
 * for, and so on until a running thread is reached: one wait then becomes several lists with weights that add up to its
 * own. Each worker has one; it borrows everything.
 *
 *	wait_chains_add(&chains, &source, pass_add, pass);	pass_add(pass, frames, count, weight_ns) for each list
 *	wait_chains_deinit(&chains);
 */
#ifndef ANALYSIS_WAIT_CHAINS_H
#define ANALYSIS_WAIT_CHAINS_H

#include "analysis/resolve.h"
#include "analysis/wait_index.h"

#define WAIT_CHAIN_DEPTH 8 /* Maximum number of wake-ups that are followed. */
#define WAIT_CHAIN_LOOKS 4096 /* Maximum number of waits that are examined for one wait. */
/* Maximum number of lists of one wait; the remaining time is attributed to the last waker. */
#define WAIT_CHAIN_PARTS 256

struct wait_chains {
	const struct wait_index *index;
	struct perfdata_reader *reader;
	const struct record_run *run;
	struct resolver *resolver;
	bool follows; /* Whether the waits of wakers are followed. */
	VEC(uint32_t) frames; /* The current list. */
};

struct wait_chain_source {
	const struct sample *sample;
	const struct wait_record *wait;
	struct resolve_where where;
	const uint32_t *frames; /* The sample's own chain, innermost first. */
	size_t count;
};

/* Receives a list; frames, innermost first, are valid only during the call. */
typedef void (*wait_chain_taker)(void *data, const uint32_t *frames, size_t count, uint64_t weight_ns);

/* Calls take for each list. Returns false when out of memory. */
bool wait_chains_add(
	struct wait_chains *chains, const struct wait_chain_source *source, wait_chain_taker take, void *data);
void wait_chains_deinit(struct wait_chains *chains);

#endif
