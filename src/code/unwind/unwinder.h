/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwinder.h - finds the callers of a thread from its registers and a slice of its stack: a pure function of these and
 * of a lookup of mappings. Not here: where registers and stack come from, names of frames.
 *
 * The caller creates one unwinder per worker; it holds caches only. Tables that find returns must outlive it, or live
 * until unwinder_forget_tables. Bad input: any registers and any stack end in one of the ways below, after at most max
 * frames.
 *
 *	unwinder_create(arch, &unwinder, err);
 *	r = unwinder_run(unwinder, &registers, &stack, &modules, ips, max);
 *	if (r.end == UNWIND_ROOT) ...	// complete
 */
#ifndef CODE_UNWIND_UNWINDER_H
#define CODE_UNWIND_UNWINDER_H

#include "code/unwind/unwind_input.h"

enum unwind_end {
	UNWIND_ROOT, /* the thread's first function was reached */
	UNWIND_STACK_SHORT, /* the rest lies behind the end of the slice, or on another stack */
	UNWIND_NO_CFI, /* there is no rule for this code, and its frame pointer does not help */
	UNWIND_BROKEN, /* the result cannot be a frame */
	UNWIND_LIMIT, /* max frames, and there are more */
	UNWIND_NO_REGISTERS, /* one that is needed is not known */
};
#define UNWIND_ENDS    6
#define UNWIND_SIGNALS 8 /* handlers interrupted by handlers */

struct unwind_result {
	size_t count; /* of ips */
	enum unwind_end end;
	size_t bridged; /* frames found without call-frame information: by frame pointer, or as a leaf (unwind_bridge.h) */
	/* The end of the walk, from which callers can be searched further. */
	uint64_t last_sp; /* the stack pointer of the last frame */
	uint64_t last_fp; /* its frame pointer, if has_last_fp */
	bool has_last_fp;
	bool is_outermost; /* of UNWIND_ROOT: call-frame information says that nobody has called it; else it looks so */
	/* The indexes of ips to which signal handlers return; further ones are not kept. */
	uint32_t signal_count;
	uint32_t signals[UNWIND_SIGNALS];
};

/* Whether ips[i] is the next instruction to run instead of a return address: the innermost address, the one that a
 * signal handler returns to, and the interrupted one. */
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
/* Call this when mappings have changed, or the next stack belongs to another process: find is then called again.
 * Fast. */
void unwinder_forget(struct unwinder *unwinder);
/* A table was destroyed. */
void unwinder_forget_tables(struct unwinder *unwinder);
/* Writes pc and then the return addresses, innermost first, as they were found (without an authentication code). */
struct unwind_result unwinder_run(struct unwinder *unwinder, const struct unwind_registers *registers,
	const struct unwind_stack *stack, const struct unwind_modules *modules, uint64_t *ips, size_t max);
const char *unwind_end_name(enum unwind_end end);

#endif
