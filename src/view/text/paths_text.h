/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths_text.h - prints the call paths that differ as a tree: callers above their callees, the largest differences
 * first.
 *
 * A path with a single callee that has the same shares is printed on one line with it.
 *
 *	paths_text(&out, &paths, &(struct paths_text_options){.changes = weights, .min_change = 0.5}, err);
 */
#ifndef VIEW_TEXT_PATHS_TEXT_H
#define VIEW_TEXT_PATHS_TEXT_H

#include "profile/diff/diff_changes.h"
#include "profile/diff/diff_paths.h"

struct paths_text_options {
	const struct diff_change *changes; /* Indexed by path: shares of both sides, and results of the test. */
	/* Display paths with a verdict; otherwise those with shares that differ by at least min_change. */
	bool is_tested;
	double min_change; /* In percentage points. */
	bool is_quiet; /* Without titles. */
};

/* Returns whether the path itself is displayed, not only because of its callees. */
bool paths_text_has(const struct paths_text_options *options, uint32_t path);
TALLY_MUST_CHECK enum tally_status paths_text(struct text *out, const struct diff_paths *paths,
	const struct paths_text_options *options, struct tally_error *err);

#endif
