/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_frames.h - converts the stacks of a pass, which refer to the pass's own frames, into stacks of a profile, by
 * several workers that also hash them. Stacks are converted in place, except those with inlined calls, which become
 * longer and are stored separately.
 *
 *	struct stack_frames stacks = {.stacks = &table, .frames = frames, .roles = roles, ...};
 *	stack_frames_translate(&stacks, threads);	... stack_frames_get(&stacks, i), stacks.hashes[i] ...
 *	stack_frames_deinit(&stacks);
 */
#ifndef ANALYSIS_STACK_FRAMES_H
#define ANALYSIS_STACK_FRAMES_H

#include <tally/status.h>

#include "base/list_table.h"

enum frame_role { /* the role of a frame at the end of a chain */
	FRAME_OTHER,
	FRAME_FIRST, /* threads begin in its function */
	FRAME_MAIN, /* the program's main: its caller is in the C library */
	FRAME_NAMELESS, /* in a file without symbols */
};

#define STACK_FRAMES_BEHIND_FIRST 2 /* frames that a chain may have by mistake */

#define FRAME_HAS_CALLS 0x80 /* beside a role: calls were inlined there */

enum stack_kind {
	STACK_HAS_CALLS = 1, /* inlined: its list is not in its place */
	STACK_IS_WHOLE = 2, /* it is complete: it ends where threads begin */
	STACK_IS_BARE = 4 /* one frame, in a file without symbols */
};

struct stack_frames {
	struct list_table *stacks; /* borrowed; look-ups find nothing more in it afterwards */
	/* By the pass's frame, all borrowed. Looked up for each frame of each stack: what a CPU's own cache holds. */
	const uint32_t *frames; /* the profile's */
	const uint8_t *roles; /* enum frame_role, and FRAME_HAS_CALLS */
	const uint32_t *numbers; /* the number by which calls refers to it */
	/* Of frames that have calls: by number, and behind the last one, where its own begin in inlined; borrowed. */
	const size_t *calls;
	const uint32_t *inlined; /* frames of the profile, of each the innermost one first */
	uint32_t *hashes; /* by stack: list_table_hash */
	uint8_t *kinds; /* by stack: enum stack_kind */
	bool has_calls; /* any of them; any worker sets it */
	size_t *begin; /* by stack, and behind the last one: where the frames of those with calls are in called */
	uint32_t *called;
};

/* False: out of memory; call stack_frames_deinit in both cases. */
TALLY_MUST_CHECK bool stack_frames_translate(struct stack_frames *stacks, unsigned threads);
/* Call it after the stacks were copied: frees all but kinds. */
void stack_frames_forget_stacks(struct stack_frames *stacks);
void stack_frames_deinit(struct stack_frames *stacks);
/* Of frames of the profile. */
static inline struct list stack_frames_get(const struct stack_frames *stacks, uint32_t stack)
{
	if (!(stacks->kinds[stack] & STACK_HAS_CALLS))
		return list_table_get(stacks->stacks, stack);
	size_t begin = stacks->begin[stack];
	return (struct list){stacks->called + begin, (uint32_t)(stacks->begin[stack + 1] - begin)};
}

#endif
