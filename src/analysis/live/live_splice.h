/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_splice.h - joins an unwound stack with the frame-pointer chain that the kernel recorded for the same sample, if
 * unwinding ended early: the code switched stacks (Go's runtime.systemstack, calls into C, handlers on their own
 * stack), or the stack dump was too short. Frame pointers lead over all of that.
 *
 * The chain goes on behind the last frame that both have. It is believed if all of it up to there are frames that were
 * unwound too, or if the frame pointer of the last unwound frame is one that the kernel followed; and as far as it is
 * mapped code. What was unwound behind that frame is given up for a longer chain, or one as long where unwinding ended
 * in nothing: it is a wrong return address from the end of another stack. A stack whose call-frame information says
 * that nobody called its first function is left alone. Pure but for the look-up.
 *
 *	joined = live_splice(&splice, ips, max, &result) > 0;
 */
#ifndef ANALYSIS_LIVE_LIVE_SPLICE_H
#define ANALYSIS_LIVE_LIVE_SPLICE_H

#include "abi/sample.h"
#include "code/unwind/unwinder.h"

struct live_splice {
	const struct arch *arch;
	struct sample_array chain; /* the kernel's, of user space: pc, return addresses */
	const struct unwind_registers *registers; /* of the sample */
	struct unwind_stack stack; /* its copy */
	const struct unwind_modules *modules;
};

/* How many of the chain's addresses were put into ips, in the place of those behind the common frame. One that a signal
 * handler returns to is one more than it is, so that all may be moved back into their calls. */
size_t live_splice(const struct live_splice *splice, uint64_t *ips, size_t max, struct unwind_result *result);

#endif
