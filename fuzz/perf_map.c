/* SPDX-License-Identifier: Apache-2.0 */
/* Reads arbitrary bytes as a perf map. */
#include "code/symbols/perf_map.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct symbol_table table = {0};
	if (!text)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	if (perf_map_parse(text, size, &table))
		for (size_t i = 0; i < table.symbols.len; i++)
			if (table.symbols.items[i].start != UINT64_MAX &&
				!symbol_table_find(&table, table.symbols.items[i].start))
				abort();
	symbol_table_deinit(&table);
	free(text);
	return 0;
}
