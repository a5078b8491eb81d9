/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_hierarchy.h - prints a profile as a tree: the sort keys below one another, indented, with sums at each.
 *
 * Appends to a text that the caller owns and flushes. The layout is that of `perf report --stdio --hierarchy`.
 *
 *	report_hierarchy_rows(&out, &hierarchy, &options, err);
 */
#ifndef VIEW_TEXT_REPORT_HIERARCHY_H
#define VIEW_TEXT_REPORT_HIERARCHY_H

#include "profile/rows/hierarchy.h"
#include "view/text/report_options.h"

TALLY_MUST_CHECK enum tally_status report_hierarchy_rows(struct text *out, const struct hierarchy *tree,
	const struct report_text_options *options, struct tally_error *err);

#endif
