/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_spans.h - computes from branch stacks how often spans of code began and ended at a function's instructions,
 * and how many cycles they took. A pure function of spans and lines.
 *
 *	annotate_spans_apply(target, moved, lines, count, &has_cycles);
 */
#ifndef TASKS_LISTING_ANNOTATE_SPANS_H
#define TASKS_LISTING_ANNOTATE_SPANS_H

#include "tasks/listing/annotate_samples.h"
#include "view/text/annotate_lines.h"

/* moved is added to addresses of spans to get those of lines. Sets has_cycles if a span has a cycle count. Returns
 * false if memory runs out. */
bool annotate_spans_apply(const struct annotate_target *target, uint64_t moved, struct annotate_line *lines,
	size_t count, bool *has_cycles);

#endif
