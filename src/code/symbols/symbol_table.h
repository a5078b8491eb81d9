/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_table.h - stores symbols sorted by start address, one for each and all with an end, and finds the one that
 * contains an address with buckets and binary search.
 *
 * Owned by an entry of the binary store. Names are borrowed. One thread builds the table, which is read-only
 * afterwards. If an address has several symbols, the choice is perf's: one with a size; not a weak one; a global one;
 * the one with fewer leading underscores; the longer name. A label without a size inside a function with a size is only
 * a place in that function and is ignored, except in kernels, which have such labels for functions.
 */
#ifndef CODE_SYMBOLS_SYMBOL_TABLE_H
#define CODE_SYMBOLS_SYMBOL_TABLE_H

#include "base/bytes.h"
#include "base/vec.h"
#include "code/symbol.h"

struct symbol_table {
	VEC(struct symbol) symbols;
	uint64_t *max_end; /* max_end[i] is the highest end of symbols[0..i]. */
	/* Number of symbols that start before each bucket; an address is in bucket (address - symbols[0].start) >>
	 * bucket_shift. */
	uint32_t *buckets;
	size_t bucket_count; /* buckets has one more entry; 0 if there are too many symbols for buckets. */
	unsigned bucket_shift;
};

enum symbol_rule {
	/* ELF files: sizes are valid; a symbol without a size ends at the next one, or is ignored inside a function. */
	SYMBOLS_SIZED,
	SYMBOLS_KERNEL, /* ELF files of a kernel: a symbol without a size always ends at the next one. */
	SYMBOLS_UNSIZED, /* kallsyms: each symbol ends at the next one. */
};

/* Adds a symbol; size 0 means not known, and binding is as in struct symbol. Returns false if memory runs out. */
bool symbol_table_add(struct symbol_table *table, uint64_t start, uint64_t size, const char *name, char binding);
/* Marks the symbol that was added last as data. */
void symbol_table_mark_object(struct symbol_table *table, bool is_object);
/* Adds by to every address (wrapping); call it before symbol_table_finish. */
void symbol_table_move(struct symbol_table *table, uint64_t by);
/* Sorts the symbols that were added so far, so that symbol_table_at can search them; more can be added afterwards.
 * Returns false if memory runs out. */
bool symbol_table_sort(struct symbol_table *table);
/* Returns the best symbol at an address of a sorted table; NULL if none starts there. */
const struct symbol *symbol_table_at(const struct symbol_table *table, uint64_t start);
/* Sorts, sets the ends and removes aliases. Returns false if memory runs out. */
bool symbol_table_finish(struct symbol_table *table, enum symbol_rule rule);
void symbol_table_deinit(struct symbol_table *table);
/* Returns the symbol that contains an address; NULL if none. Of several, the one with the highest start is returned. */
const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t address);
/* Finds the symbol that contains an address, and a range of addresses around it that have the same symbol. */
void symbol_table_find_span(const struct symbol_table *table, uint64_t address, struct symbol_span *span);

#endif
