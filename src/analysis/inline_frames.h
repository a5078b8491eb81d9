/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inline_frames.h - finds the calls that the compiler inlined at the address of each resolved frame, from debug
 * information.
 *
 * Owned by the caller; names are borrowed from the store. A binary without debug information is searched only once.
 *
 *	inline_frames_read(&job, &frames, err);
 *	for (size_t i = frames.begin[f]; i < frames.begin[f + 1]; i++) frames.names.items[i] ...
 */
#ifndef ANALYSIS_INLINE_FRAMES_H
#define ANALYSIS_INLINE_FRAMES_H

#include "analysis/symbolise.h"

struct inline_frames {
	size_t *begin; /* Index of each frame's first name, with one more entry at the end. */
	/* Mangled names, innermost first; the function that contains the code is not among them. */
	VEC(const char *) names;
};

/* Call this after symbolise, because the binaries of the frames must be loaded. */
TALLY_MUST_CHECK enum tally_status inline_frames_read(
	const struct symbolise_job *job, struct inline_frames *out, struct tally_error *err);
void inline_frames_deinit(struct inline_frames *frames);

#endif
