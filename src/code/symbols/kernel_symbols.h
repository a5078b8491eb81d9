/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_symbols.h - looks up symbols in the kernel's list and parses only the parts of it that are needed: the list
 * has two hundred thousand lines, of which a recording needs some hundred.
 *
 * The list's text is borrowed and must outlive kernel_symbols, which owns the symbols. One thread opens it; any thread
 * may search. If memory runs out for a part, it has no symbols.
 *
 *	if (kernel_symbols_open(&kallsyms, &symbols) == TALLY_OK)
 *		symbol = kernel_symbols_find(symbols, address);
 */
#ifndef CODE_SYMBOLS_KERNEL_SYMBOLS_H
#define CODE_SYMBOLS_KERNEL_SYMBOLS_H

#include "code/symbols/kallsyms.h"

struct kernel_symbols;

/* Opens a list. NOT_FOUND: the list is not sorted and cannot be searched; kallsyms_add_kernel reads such lists. */
TALLY_MUST_CHECK enum tally_status kernel_symbols_open(const struct kallsyms *list, struct kernel_symbols **symbols);
/* Opens a list for which kallsyms_mark has made marks, and takes ownership of the marks. */
TALLY_MUST_CHECK enum tally_status kernel_symbols_open_marked(
	const struct kallsyms *list, struct kallsyms_marks *marks, struct kernel_symbols **symbols);
void kernel_symbols_close(struct kernel_symbols *symbols);
/* Returns the index of the list; owned by symbols. */
const struct kallsyms_marks *kernel_symbols_marks(const struct kernel_symbols *symbols);
/* Adds by to every address (wrapping); call it before the first search. */
void kernel_symbols_move(struct kernel_symbols *symbols, uint64_t by);
/* Returns the same result as symbol_table_find on the whole list. */
const struct symbol *kernel_symbols_find(struct kernel_symbols *symbols, uint64_t address);
/* Finds what symbol_table_find_span finds in the whole list; the range may be smaller. */
void kernel_symbols_find_span(struct kernel_symbols *symbols, uint64_t address, struct symbol_span *span);

#endif
