/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_walked.h - keeps user stacks that a BPF program put into the rings, each right before the sample that it belongs
 * to, until that sample comes. Records of several rings may come in between; the thread ID says which stack belongs to
 * which sample.
 *
 * Owned by live_unwind. Bad input: an invalid stack is refused. A stack whose sample never comes is overwritten by
 * later ones, and is_full says so.
 *
 *	live_walked_take(&walked, &layout, &record);   ...   stack = live_walked_find(&walked, tid);
 */
#ifndef ANALYSIS_LIVE_LIVE_WALKED_H
#define ANALYSIS_LIVE_LIVE_WALKED_H

#include "abi/record.h"
#include "abi/sample.h"
#include "abi/walked_stack.h"
#include "analysis/stack_ends.h"

#define LIVE_WALKED_KEPT 256 /* stacks whose samples have not come yet: at most one for each CPU */

struct live_walked {
	bool is_on;
	struct sample_stack *kept; /* a ring of them */
	unsigned next;
	uint64_t unmatched; /* stacks whose sample did not come */
};

TALLY_MUST_CHECK enum tally_status live_walked_init(struct live_walked *walked, struct tally_error *err);
void live_walked_deinit(struct live_walked *walked);
/* False: the record holds no stack. */
bool live_walked_take(struct live_walked *walked, const struct record_layout *layout, const struct record *record);
/* The stack of the thread's next sample; it is returned once, and valid until the next stack is taken. NULL: there is
 * none. */
struct walk_stack *live_walked_find(struct live_walked *walked, uint32_t tid);
/* Call it when records were lost, because the samples of kept stacks may be among them. */
void live_walked_forget(struct live_walked *walked);
/* Counts how the stack ended; unknown counts stacks of processes that the BPF program did not know yet. */
void live_walked_count(const struct walk_stack *stack, struct stack_ends *ends, uint64_t *unknown);

#endif
