/*
 * symbol_table.h - symbols sorted by address, one per address, each with an end; found by
 * buckets of addresses and, in a bucket, binary search.
 *
 * Owned by a store entry. Names are borrowed. Built by one thread, then read-only.
 * Which of several names of one address stays is perf's choice: the one with a size; not a weak one; a global one; the
 * one with fewer leading underscores; the longer.
 */
#ifndef CODE_SYMBOLS_SYMBOL_TABLE_H
#define CODE_SYMBOLS_SYMBOL_TABLE_H

#include "base/vec.h"
#include "code/binary_store.h"

struct symbol_table {
	VEC(struct symbol) symbols;
	uint64_t *max_end; /* highest end of symbols[0..i] */
	uint32_t *
		buckets; /* by start - that of the first symbol, >> bucket_shift: how many symbols start before there */
	size_t bucket_count; /* one entry more is there; 0: too many symbols */
	unsigned bucket_shift;
};

enum symbol_rule {
	SYMBOLS_SIZED, /* ELF: sizes hold; one without a size ends where the next begins */
	SYMBOLS_UNSIZED, /* kallsyms: each ends where the next begins */
	SYMBOLS_LAST_STAYS, /* perf maps: as ELF, but of several at one address the last that was added stays */
};

bool symbol_table_add(struct symbol_table *table, uint64_t start, uint64_t size, const char *name, char binding);
/* The last that was added is data. */
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
/* A look-up waits for memory twice: who has many to do starts the first wait for all of them, then the second. */
static inline const uint32_t *symbol_table_bucket(const struct symbol_table *table, uint64_t address)
{
	uint64_t first = table->bucket_count ? table->symbols.items[0].start : 0;
	uint64_t bucket = (address - first) >> table->bucket_shift;
	return address >= first && bucket < table->bucket_count ? &table->buckets[bucket] : NULL;
}
static inline void symbol_table_expect(const struct symbol_table *table, uint64_t address)
{
	const uint32_t *bucket = symbol_table_bucket(table, address);
	if (bucket)
		__builtin_prefetch(bucket);
}
static inline void symbol_table_guess(const struct symbol_table *table, uint64_t address)
{
	const uint32_t *bucket = symbol_table_bucket(table, address);
	if (!bucket)
		return;
	size_t likely = *bucket ? *bucket - 1 : 0;
	__builtin_prefetch(&table->symbols.items[likely]);
	__builtin_prefetch(&table->symbols.items[*bucket < table->symbols.len ? *bucket : likely]);
}

#endif
