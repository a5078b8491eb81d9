#include "code/symbols/perf_map.h"

bool perf_map_parse(struct tally_str text, struct arena *arena, struct symbol_table *table)
{
	struct tally_str rest = text;
	struct tally_str line;
	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		struct tally_str start_text;
		struct tally_str size_text;
		uint64_t start;
		uint64_t size;
		if (!str_next(&line, ' ', &start_text) || !str_next(&line, ' ', &size_text) || !line.data ||
			line.len == 0 || !str_to_u64(start_text, 16, &start) || !str_to_u64(size_text, 16, &size))
			continue;
		const char *name = arena_string(arena, line.data, line.len);
		if (!name || !symbol_table_add(table, start, size, name, 'g'))
			return false;
	}
	return symbol_table_finish(table, false);
}
