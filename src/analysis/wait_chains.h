/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_chains.h - makes one list of frames of a wait: its call chain, then the call chain of the thread that ended it.
 *
 * Between the parts stands a frame that says who the waker is (BRANCH_END_WAKER; its address is the number of a name in
 * the index). If waits are followed, the time in which the waker itself waited is attributed to the thread that it
 * waited for, and so on until a thread ran: one wait becomes several lists, whose weights add up to its own. One per
 * worker; borrows everything.
 *
 *	wait_chains_add(&chains, &wait, pass_add, pass);	pass_add(pass, frames, count, weight_ns) for each list
 *	wait_chains_deinit(&chains);
 */
#ifndef ANALYSIS_WAIT_CHAINS_H
#define ANALYSIS_WAIT_CHAINS_H

#include "analysis/resolve.h"
#include "analysis/wait_index.h"

#define WAIT_CHAIN_DEPTH 8 /* wake-ups that are followed */
#define WAIT_CHAIN_LOOKS 4096 /* waits that are examined for one */
#define WAIT_CHAIN_PARTS 256 /* lists of one wait; the rest of it is attributed to the last waker */

struct wait_chains {
	const struct wait_index *index;
	struct perfdata_reader *reader;
	const struct record_run *run;
	struct resolver *resolver;
	bool follows;
	VEC(uint32_t) frames; /* of the list in hand */
};

struct wait_chain_source {
	const struct sample *sample;
	const struct wait_record *wait;
	struct resolve_where where;
	const uint32_t *frames; /* its own chain, the innermost first */
	size_t count;
};

typedef void (*wait_chain_taker)(void *data, const uint32_t *frames, size_t count, uint64_t weight_ns);

/* False: out of memory. */
bool wait_chains_add(
	struct wait_chains *chains, const struct wait_chain_source *source, wait_chain_taker take, void *data);
void wait_chains_deinit(struct wait_chains *chains);

#endif
