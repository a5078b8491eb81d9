/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_table.h - stores symbols sorted by address, one per address and each with an end, and finds them by buckets
 * and binary search.
 *
 * Owned by a store entry. Names are borrowed. Built by one thread, then read-only. Which of several names of one
 * address stays is perf's choice: the one with a size; not a weak one; a global one; the one with fewer leading
 * underscores; the longer. A label without a size inside a function with a size is only a place in that function and
 * gives no name, except in kernels, whose symbol list has such labels for functions.
 */
#ifndef CODE_SYMBOLS_SYMBOL_TABLE_H
#define CODE_SYMBOLS_SYMBOL_TABLE_H

#include "base/bytes.h"
#include "base/vec.h"
#include "code/symbol.h"

struct symbol_table {
	VEC(struct symbol) symbols;
	uint64_t *max_end; /* highest end of symbols[0..i] */
	uint32_t *
		buckets; /* by start - that of the first symbol, >> bucket_shift: how many symbols start before there */
	size_t bucket_count; /* one entry more is there; 0: too many symbols */
	unsigned bucket_shift;
};

enum symbol_rule {
	SYMBOLS_SIZED, /* ELF: sizes hold; one without a size ends where the next begins, or names nothing inside a function */
	SYMBOLS_KERNEL, /* ELF files of a kernel: one without a size always ends where the next begins */
	SYMBOLS_UNSIZED, /* kallsyms: each ends where the next begins */
};

bool symbol_table_add(struct symbol_table *table, uint64_t start, uint64_t size, const char *name, char binding);
/* Says that the symbol that was added last is data. */
void symbol_table_mark_object(struct symbol_table *table, bool is_object);
/* Adds by (wrapping) to every address; before finish. */
void symbol_table_move(struct symbol_table *table, uint64_t by);
/* Sorts only: for symbol_table_at, while more is to be added. */
bool symbol_table_sort(struct symbol_table *table);
/* The best name of a sorted table's address; NULL: nothing starts there. */
const struct symbol *symbol_table_at(const struct symbol_table *table, uint64_t start);
/* Sorts, gives ends and drops aliases. False: out of memory. */
bool symbol_table_finish(struct symbol_table *table, enum symbol_rule rule);
void symbol_table_deinit(struct symbol_table *table);
const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t address);
/* The same, and sets the span of addresses that have the same answer. */
void symbol_table_find_span(const struct symbol_table *table, uint64_t address, struct symbol_span *span);

#endif
