/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_frames.h - converts the stacks of a pass, which refer to the pass's own frames, into stacks of a profile, and
 * hashes them, on several workers. Stacks are converted in place, except those with inlined calls, which become longer
 * and are stored separately.
 *
 *	struct stack_frames stacks = {.stacks = &table, .frames = frames, .roles = roles, ...};
 *	stack_frames_translate(&stacks, threads);	... stack_frames_get(&stacks, i), stacks.hashes[i] ...
 *	stack_frames_deinit(&stacks);
 */
#ifndef ANALYSIS_STACK_FRAMES_H
#define ANALYSIS_STACK_FRAMES_H

#include <tally/status.h>

#include "base/list_table.h"

enum frame_role { /* Role of a frame at the end of a chain. */
	FRAME_OTHER,
	FRAME_FIRST, /* Threads begin in its function. */
	FRAME_MAIN, /* The program's main function; its caller is in the C library. */
	FRAME_NAMELESS, /* It lies in a file without symbols. */
};

/* Maximum number of wrong frames that may follow the frame in which threads begin in a complete stack. */
#define STACK_FRAMES_BEHIND_FIRST 2

#define FRAME_HAS_CALLS 0x80 /* Flag added to a role if calls were inlined at the frame's address. */

enum stack_kind {
	STACK_HAS_CALLS = 1, /* It has inlined calls, so its frames are stored in `called`. */
	STACK_IS_WHOLE = 2, /* It is complete: it ends where threads begin. */
	STACK_IS_BARE = 4 /* It has only one frame, which lies in a file without symbols. */
};

struct stack_frames {
	struct list_table *stacks; /* Borrowed; afterwards look-ups in it no longer work. */
	/* frames, roles and numbers are indexed by the pass's frame and borrowed. They are read for each frame of each
	 * stack, so they should fit into the cache of a CPU. */
	const uint32_t *frames; /* The profile's frame. */
	const uint8_t *roles; /* enum frame_role, with FRAME_HAS_CALLS. */
	const uint32_t *numbers; /* Index of the frame in calls. */
	/* Index in inlined of the first inlined call of each frame, with one more entry at the end; borrowed. */
	const size_t *calls;
	/* The profile's frames of inlined calls, innermost first; borrowed. NULL if there are none. */
	const uint32_t *inlined;
	uint32_t *hashes; /* list_table_hash of each stack. */
	uint8_t *kinds; /* enum stack_kind flags of each stack. */
	bool has_calls; /* Some stack has inlined calls; set by any worker. */
	/* Index in called of the first frame of each stack with inlined calls, with one more entry at the end. */
	size_t *begin;
	uint32_t *called; /* The profile's frames of the stacks with inlined calls. */
};

/* Returns false when out of memory; stack_frames_deinit must be called in both cases. */
TALLY_MUST_CHECK bool stack_frames_translate(struct stack_frames *stacks, unsigned threads);
/* Frees everything except kinds. Call it after the stacks were copied. */
void stack_frames_forget_stacks(struct stack_frames *stacks);
void stack_frames_deinit(struct stack_frames *stacks);
/* Returns a stack as frames of the profile. */
static inline struct list stack_frames_get(const struct stack_frames *stacks, uint32_t stack)
{
	if (!(stacks->kinds[stack] & STACK_HAS_CALLS))
		return list_table_get(stacks->stacks, stack);
	size_t begin = stacks->begin[stack];
	return (struct list){stacks->called + begin, (uint32_t)(stacks->begin[stack + 1] - begin)};
}

#endif
