/*
 * stack_frames.h - the stacks of a pass, of its own frames, become stacks of a profile's: in their place and by several
 * workers, which hash them too. Those with inlined calls stay as they are: what these are in the profile is not known yet.
 *
 *	stack_frames_translate(&stacks, threads);	... stacks.hashes[i], stacks.kinds[i] & STACK_HAS_CALLS ...
 */
#ifndef ANALYSIS_STACK_FRAMES_H
#define ANALYSIS_STACK_FRAMES_H

#include "base/list_table.h"
#include <tally/status.h>

enum frame_role { /* in how a chain ends */
	FRAME_OTHER,
	FRAME_FIRST, /* threads begin in its function */
	FRAME_MAIN, /* of the program: its caller is the C library's */
	FRAME_NAMELESS, /* in a file without symbols */
};

struct stack_frame { /* what a frame of the pass is */
	uint32_t frame; /* of the profile */
	bool has_inlined_calls;
	uint8_t role; /* enum frame_role */
};

enum stack_kind {
	STACK_HAS_CALLS = 1, /* inlined: the list is of the pass's frames */
	STACK_IS_WHOLE = 2 /* it ends where threads begin */
};

struct stack_frames {
	struct list_table *stacks; /* look-ups find nothing more in it afterwards */
	const struct stack_frame *frames; /* by the pass's */
	uint32_t *hashes; /* by stack: list_table_hash */
	uint8_t *kinds; /* by stack: enum stack_kind */
};

/* Fills hashes and kinds, which are the caller's to free. False: out of memory. */
TALLY_MUST_CHECK bool stack_frames_translate(struct stack_frames *stacks, unsigned threads);

#endif
