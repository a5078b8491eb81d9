/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_splice.h - joins an unwound stack with the frame-pointer chain that the kernel recorded for the same sample, if
 * unwinding ended early because the code switched stacks (Go's runtime.systemstack, calls into C, handlers on their own
 * stack) or the stack dump was too short. Frame pointers are not affected by either.
 *
 * The kernel's chain replaces the frames after the last frame that both have in common. It is trusted if all its frames
 * up to there were unwound too, if it contains the last three unwound frames, or if the kernel followed the frame
 * pointer of the last unwound frame; and only as far as its addresses lie in mapped code. Unwound frames after the
 * common one are replaced by a longer chain. A chain of the same length replaces them if unwinding ended at an invalid
 * frame, or at an end that call-frame information does not confirm, because they then hold a wrong return address from
 * the end of another stack. A stack that is complete according to its call-frame information stays unchanged. No side
 * effects except the look-ups.
 *
 *	joined = live_splice(&splice, ips, max, &result) > 0;
 */
#ifndef ANALYSIS_LIVE_LIVE_SPLICE_H
#define ANALYSIS_LIVE_LIVE_SPLICE_H

#include "abi/sample.h"
#include "code/unwind/unwinder.h"

struct live_splice {
	const struct arch *arch;
	struct sample_array chain; /* The kernel's user-space chain: pc, then return addresses. */
	const struct unwind_registers *registers; /* User registers of the sample. */
	struct unwind_stack stack; /* The stack dump. */
	const struct unwind_modules *modules;
};

/* Returns how many of the chain's addresses replaced those after the common frame in ips. The address that a signal
 * handler returns to is stored plus one, so that the caller can subtract one from all of them. */
size_t live_splice(const struct live_splice *splice, uint64_t *ips, size_t max, struct unwind_result *result);

#endif
