/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/own_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "kernel/recording/proc_maps.h"

#define OWN_MAPS_LIMIT (16u << 20)

bool own_code_find(uint64_t address, char path[PATH_MAX], uint64_t *offset)
{
	char *text;
	size_t len;
	bool is_found = false;
	if (file_read("/proc/self/maps", OWN_MAPS_LIMIT, &text, &len, NULL) != TALLY_OK)
		return false;
	struct tally_str rest = {text, len}, line;
	while (!is_found && rest.len > 0 && str_next(&rest, '\n', &line)) {
		struct proc_map map;
		if (!proc_map_parse(line, &map) || address < map.start || address >= map.end || map.path.len == 0 ||
			map.path.data[0] != '/' || map.path.len >= PATH_MAX)
			continue;
		memcpy(path, map.path.data, map.path.len);
		path[map.path.len] = '\0';
		*offset = address - map.start + map.pgoff;
		is_found = true;
	}
	free(text);
	return is_found;
}
