/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_line.h - reads one line of the trace of function_graph: how long a call took, and of which function.
 *
 * Lines of both layouts are read, with and without the names of threads and times in front. Pure; the name lies in the
 * line. Source: Documentation/trace/ftrace.rst.
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
	struct tally_str name; /* "mutex_lock", without a module; empty if the line does not say it */
};

/* False: the line has no duration, as that of a call that begins, or is none of function_graph. */
bool graph_line_read(struct tally_str line, struct graph_line *call);
/* A line such as "CPU:1 [LOST 14 EVENTS]": the number; 0: it is none. */
uint64_t graph_line_lost(struct tally_str line);

#endif
