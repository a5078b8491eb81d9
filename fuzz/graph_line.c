/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses lines of the function_graph tracer: names lie within the lines.
 */
#include "analysis/ftrace/graph_line.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tally_str rest = {(const char *)data, size}, line;
	if (size == 0)
		return 0;
	while (str_next(&rest, '\n', &line)) {
		struct graph_line call;
		(void)graph_line_lost(line);
		if (graph_line_read(line, &call) &&
			(call.name.data < line.data || call.name.data + call.name.len > line.data + line.len))
			abort();
	}
	return 0;
}
