/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/cpu_filter.h"

#include <stdlib.h>

#include "base/limits.h"
#include "cli/number_ranges.h"

enum tally_status cpu_filter_parse(const char *text, bool **cpus, struct tally_error *err)
{
	bool *table = calloc(LIMIT_CPUS, sizeof(*table));
	if (!table)
		return error_nomem(err);
	if (!number_ranges_parse(text, LIMIT_CPUS, table)) {
		free(table);
		return error_set(err, TALLY_INVALID, "Invalid cpu_list: '%s'", text);
	}
	*cpus = table;
	return TALLY_OK;
}
