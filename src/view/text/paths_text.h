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
	const struct diff_change *changes; /* by path: shares of both sides, and what was tested of them */
	bool is_tested; /* paths show that have a verdict; else those whose share differs by min_change or more */
	double min_change; /* percent points */
	bool is_quiet; /* no titles */
};

/* Whether the path itself (not for the sake of what it calls) shows. */
bool paths_text_has(const struct paths_text_options *options, uint32_t path);
TALLY_MUST_CHECK enum tally_status paths_text(struct text *out, const struct diff_paths *paths,
	const struct paths_text_options *options, struct tally_error *err);

#endif
