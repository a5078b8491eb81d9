/* Any bytes as a list of the kernel's symbols: the kernel's and one module's. */
#include <stdlib.h>
#include <string.h>

#include "code/symbols/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct kallsyms kallsyms;
	struct symbol_table table = {0};
	struct arena arena;
	bool is_hidden;
	if (!text)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	arena_init(&arena);
	kallsyms_open(text, size, &kallsyms);
	if (kallsyms_add_kernel(&kallsyms, &table, &is_hidden) &&
		kallsyms_add_module(&kallsyms, STR("[a]"), &arena, &table) &&
		symbol_table_finish(&table, SYMBOLS_UNSIZED))
		for (size_t i = 0; i < table.symbols.len; i++)
			/* No end lies behind the last address. */
			if (table.symbols.items[i].start != UINT64_MAX &&
				!symbol_table_find(&table, table.symbols.items[i].start))
				abort();
	symbol_table_deinit(&table);
	arena_deinit(&arena);
	free(text);
	return 0;
}
