#include "cli/cpu_filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"

enum tally_status cpu_filter_parse(const char *text, bool **cpus, struct tally_error *err)
{
	struct tally_str rest = str_from(text);
	struct tally_str part;
	bool *table = calloc(LIMIT_CPUS, sizeof(*table));
	if (!table)
		return error_nomem(err);
	while (str_next(&rest, ',', &part)) {
		struct tally_str last = str_trim(part);
		struct tally_str first;
		uint64_t from = 0;
		uint64_t to;
		bool is_good = str_next(&last, '-', &first) && str_to_u64(first, 10, &from);
		to = from;
		if (is_good && last.len > 0)
			is_good = str_to_u64(last, 10, &to);
		if (!is_good || to < from || to >= LIMIT_CPUS) {
			free(table);
			return error_set(err, TALLY_INVALID, "Invalid cpu_list: '%s'", text);
		}
		memset(table + from, true, to - from + 1);
	}
	*cpus = table;
	return TALLY_OK;
}
