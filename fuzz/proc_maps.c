/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc_maps.c - parses arbitrary text as lines of /proc/PID/maps and /proc/modules: the results are consistent and
 * lie within the line.
 */
#include "kernel/recording/proc_maps.h"

#include <stdlib.h>

static void check_inside(struct tally_str part, struct tally_str line)
{
	if (part.len && (part.data < line.data || part.data + part.len > line.data + line.len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tally_str rest = {(const char *)data, size}, line;
	while (str_next(&rest, '\n', &line)) {
		struct proc_map map;
		struct proc_module module;
		if (proc_map_parse(line, &map)) {
			if (map.end <= map.start || map.prot > 7)
				abort();
			check_inside(map.path, line);
		}
		if (proc_module_parse(line, &module))
			check_inside(module.name, line);
	}
	return 0;
}
