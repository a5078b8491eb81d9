/* SPDX-License-Identifier: Apache-2.0 */
/* Reads arbitrary bytes as a list of kernel symbols, for the kernel and for one module, as a whole and in parts. */
#include <stdlib.h>
#include <string.h>

#include "code/symbols/kernel_symbols.h"

/* Searching the list gives the same names as reading it. */
static void compare(struct kernel_symbols *symbols, const struct symbol_table *table, uint64_t address)
{
	const struct symbol *a = kernel_symbols_find(symbols, address);
	const struct symbol *b = symbol_table_find(table, address);
	if (!a != !b || (a && (a->start != b->start || a->end != b->end || strcmp(a->name, b->name) != 0)))
		abort();
}

static void compare_all(const struct kallsyms *kallsyms, const struct symbol_table *table)
{
	struct kernel_symbols *symbols;
	if (kernel_symbols_open(kallsyms, &symbols) != TALLY_OK)
		return;
	for (size_t i = 0; i < table->symbols.len && !kernel_symbols_marks(symbols)->is_hidden; i++) {
		compare(symbols, table, table->symbols.items[i].start);
		compare(symbols, table, table->symbols.items[i].start - 1);
		compare(symbols, table, table->symbols.items[i].end);
	}
	kernel_symbols_close(symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kallsyms kallsyms;
	struct symbol_table table = {0};
	struct symbol_table module = {0};
	struct arena arena;
	bool is_hidden;
	arena_init(&arena);
	kallsyms_open((const char *)data, size, &kallsyms);
	if (kallsyms_add_kernel(&kallsyms, &arena, &table, &is_hidden) &&
		kallsyms_add_module(&kallsyms, STR("[a]"), &arena, &module) &&
		symbol_table_finish(&table, SYMBOLS_UNSIZED) && symbol_table_finish(&module, SYMBOLS_UNSIZED)) {
		for (size_t i = 0; i < table.symbols.len; i++)
			/* A symbol that begins at the last address has no end. */
			if (table.symbols.items[i].start != UINT64_MAX &&
				!symbol_table_find(&table, table.symbols.items[i].start))
				abort();
		compare_all(&kallsyms, &table);
	}
	symbol_table_deinit(&table);
	symbol_table_deinit(&module);
	arena_deinit(&arena);
	return 0;
}
