/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_walked.h - keeps user stacks that a BPF program wrote to the rings, each right before the sample that it belongs
 * to, until that sample arrives. Records of other rings may come in between; the thread ID matches a stack with its
 * sample.
 *
 * Owned by live_unwind. Bad input: an invalid stack is refused. A stack without a sample is overwritten by later ones
 * and counted in unmatched.
 *
 *	live_walked_take(&walked, &layout, &record);   ...   stack = live_walked_find(&walked, tid);
 */
#ifndef ANALYSIS_LIVE_LIVE_WALKED_H
#define ANALYSIS_LIVE_LIVE_WALKED_H

#include "abi/record.h"
#include "abi/sample.h"
#include "abi/walked_stack.h"
#include "analysis/stack_ends.h"

#define LIVE_WALKED_KEPT 256 /* Limit of stacks that wait for their samples: at most one for each CPU. */

struct live_walked {
	bool is_on;
	struct sample_stack *kept; /* Ring buffer of LIVE_WALKED_KEPT stacks. */
	unsigned next;
	uint64_t unmatched; /* Stacks without a sample. */
};

TALLY_MUST_CHECK enum tally_status live_walked_init(struct live_walked *walked, struct tally_error *err);
void live_walked_deinit(struct live_walked *walked);
/* Stores the stack of a record. Returns false if the record holds no valid stack. */
bool live_walked_take(struct live_walked *walked, const struct record_layout *layout, const struct record *record);
/* Removes and returns the stack of the thread's next sample; NULL if there is none. The result is valid until the next
 * live_walked_take. */
struct walk_stack *live_walked_find(struct live_walked *walked, uint32_t tid);
/* Drops all stacks. Call it when records were lost, because the samples of these stacks may be among them. */
void live_walked_forget(struct live_walked *walked);
/* Counts how the stack ended; *unknown counts stacks of processes that the BPF program did not know yet. */
void live_walked_count(const struct walk_stack *stack, struct stack_ends *ends, uint64_t *unknown);

#endif
