/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inline_frames.h - finds, for each resolved frame, the calls that the compiler inlined at its address, by debug
 * information.
 *
 * Owned by the caller; names are borrowed from the store. A binary without debug information is looked at only once.
 *
 *	inline_frames_read(&job, &frames, err);
 *	for (size_t i = frames.begin[f]; i < frames.begin[f + 1]; i++) frames.names.items[i] ...
 */
#ifndef ANALYSIS_INLINE_FRAMES_H
#define ANALYSIS_INLINE_FRAMES_H

#include "analysis/symbolise.h"

struct inline_frames {
	size_t *begin; /* by frame: its first name; one more at the end */
	VEC(const char *) names; /* the linker's, innermost first; the function that holds the code is not among them */
};

/* The binaries of the frames must be loaded: call it after symbolise. */
TALLY_MUST_CHECK enum tally_status inline_frames_read(
	const struct symbolise_job *job, struct inline_frames *out, struct tally_error *err);
void inline_frames_deinit(struct inline_frames *frames);

#endif
