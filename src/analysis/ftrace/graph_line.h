/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_line.h - parses a line of the function_graph tracer: the duration of a call and the name of the function.
 *
 * Both layouts are supported, with and without leading thread names and times. Pure functions; the name borrows from
 * the line. Source: Documentation/trace/ftrace.rst.
 *
 *	struct graph_line call;
 *	if (graph_line_read(STR(" 0) + 13.500 us   |    mutex_lock();"), &call)) ... call.ns, call.name ...
 */
#ifndef ANALYSIS_FTRACE_GRAPH_LINE_H
#define ANALYSIS_FTRACE_GRAPH_LINE_H

#include <stdbool.h>

#include "base/bytes.h"

struct graph_line {
	uint64_t ns;
	struct tally_str name; /* For example "mutex_lock", without a module; empty if the line has no name. */
};

/* Returns false if the line has no duration, as at the start of a call, or is not of function_graph. */
bool graph_line_read(struct tally_str line, struct graph_line *call);
/* Returns the number of lost events in a line such as "CPU:1 [LOST 14 EVENTS]", and 0 for any other line. */
uint64_t graph_line_lost(struct tally_str line);

#endif
