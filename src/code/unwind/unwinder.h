/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwinder.h - finds the callers of a thread from its registers and a slice of its stack: a pure function of these and
 * of a look-up of mappings. It neither obtains registers and stack nor names the frames.
 *
 * The caller creates one unwinder per worker thread; it contains caches only. Tables that the look-up returns must live
 * as long as the unwinder, or until unwinder_forget_tables. Bad input: with any registers and any stack, unwinding ends
 * after at most max frames, in one of the ways of enum unwind_end.
 *
 *	unwinder_create(arch, &unwinder, err);
 *	r = unwinder_run(unwinder, &registers, &stack, &modules, ips, max);
 *	if (r.end == UNWIND_ROOT) ...	// complete
 */
#ifndef CODE_UNWIND_UNWINDER_H
#define CODE_UNWIND_UNWINDER_H

#include "code/unwind/unwind_input.h"

enum unwind_end {
	UNWIND_ROOT, /* The first function of the thread was reached. */
	UNWIND_STACK_SHORT, /* The remaining frames are beyond the end of the slice, or on another stack. */
	UNWIND_NO_CFI, /* The code has no rule, and the frame pointer does not lead to the caller. */
	UNWIND_BROKEN, /* What was found for the next caller is not a valid frame. */
	UNWIND_LIMIT, /* There are more than max frames. */
	UNWIND_NO_REGISTERS, /* A register that is needed is not known. */
};
#define UNWIND_ENDS 6
/* Maximum number of signal frames that are reported; a stack has several if handlers interrupt each other. */
#define UNWIND_SIGNALS 8

struct unwind_result {
	size_t count; /* Number of entries of ips. */
	enum unwind_end end;
	/* Number of frames found without call-frame information: by frame pointer, or as a leaf (unwind_bridge.h). */
	size_t bridged;
	/* State at the end, from which another method can continue to search for callers. */
	uint64_t last_sp; /* Stack pointer of the last frame. */
	uint64_t last_fp; /* Frame pointer of the last frame, if has_last_fp. */
	bool has_last_fp;
	/* For UNWIND_ROOT: call-frame information states that there is no caller; false if that is only inferred. */
	bool is_outermost;
	/* Indexes of ips to which signal handlers return; only the first UNWIND_SIGNALS are stored. */
	uint32_t signal_count;
	uint32_t signals[UNWIND_SIGNALS];
};

/* Returns whether ips[i] is the next instruction to run instead of a return address: the innermost address, the one to
 * which a signal handler returns, and the interrupted one. */
static inline bool unwind_is_exact(const struct unwind_result *result, size_t i)
{
	for (uint32_t s = 0; s < result->signal_count; s++)
		if (i == result->signals[s] || i == result->signals[s] + UINT64_C(1))
			return true;
	return i == 0;
}

struct unwinder;

TALLY_MUST_CHECK enum tally_status unwinder_create(
	const struct arch *arch, struct unwinder **unwinder, struct tally_error *err);
void unwinder_destroy(struct unwinder *unwinder);
/* Clears the cache of modules, quickly. Call this when mappings have changed, or the next stack belongs to another
 * process. */
void unwinder_forget(struct unwinder *unwinder);
/* Clears the cache of rules. Call this after a table was destroyed. */
void unwinder_forget_tables(struct unwinder *unwinder);
/* Writes pc and then the return addresses, innermost first, to ips, which has room for max; pointer authentication
 * codes are removed. Without a stack pointer, the result is UNWIND_NO_REGISTERS with no addresses. */
struct unwind_result unwinder_run(struct unwinder *unwinder, const struct unwind_registers *registers,
	const struct unwind_stack *stack, const struct unwind_modules *modules, uint64_t *ips, size_t max);
/* Returns a short description for messages, such as "stack dump too short". */
const char *unwind_end_name(enum unwind_end end);

#endif
