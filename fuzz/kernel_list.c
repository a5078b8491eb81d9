/* SPDX-License-Identifier: Apache-2.0 */
/* Opens arbitrary bytes as a cached list of kernel symbols, and looks up symbols in it. */
#include "code/binaries/kernel_list_cache.h"
#include "code/symbols/kernel_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kernel_list list = {.map.bytes = {data, size}};
	struct kernel_symbols *symbols;
	if (!kernel_list_parse(&list) || kernel_symbols_open_marked(&list.kallsyms, &list.marks, &symbols) != TALLY_OK)
		return 0;
	const struct kallsyms_marks *known = kernel_symbols_marks(symbols);
	for (size_t i = 0; i < known->marks.len; i++) {
		struct symbol_span span;
		uint64_t address = known->marks.items[i].address;
		kernel_symbols_find_span(symbols, address, &span);
		(void)kernel_symbols_find(symbols, address + 1);
		(void)kernel_symbols_find(symbols, address - 1);
	}
	kernel_symbols_close(symbols);
	return 0;
}
