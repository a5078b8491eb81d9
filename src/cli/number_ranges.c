/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/number_ranges.h"

#include <string.h>

#include "base/bytes.h"

bool number_ranges_parse(const char *text, size_t limit, bool *table)
{
	struct tally_str rest = str_from(text);
	struct tally_str part;
	while (str_next_item(&rest, &part)) {
		struct tally_str last = part;
		struct tally_str first;
		uint64_t from = 0;
		uint64_t to;
		bool is_good = str_next(&last, '-', &first) && str_to_u64(first, 10, &from);
		to = from;
		if (is_good && last.len > 0)
			is_good = str_to_u64(last, 10, &to);
		if (!is_good || to < from || to >= limit)
			return false;
		memset(table + from, true, to - from + 1);
	}
	return true;
}
