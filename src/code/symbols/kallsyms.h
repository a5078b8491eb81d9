/*
 * kallsyms.h - /proc/kallsyms (or a copy of it) as symbols: of the kernel, or of one module.
 *
 * The caller owns the text, which is changed (lines end in NUL, so that the kernel's names are borrowed from it) and
 * must outlive the symbols; names of modules' symbols are copied. One thread.
 * Bad input: a line that is none is skipped. All addresses 0 means that the kernel hides them (kptr_restrict).
 *
 *	kallsyms_open(text, len, &kallsyms);
 *	if (!kallsyms_add_kernel(&kallsyms, &table, &is_hidden)) ...
 */
#ifndef CODE_SYMBOLS_KALLSYMS_H
#define CODE_SYMBOLS_KALLSYMS_H

#include "base/arena.h"
#include "code/symbols/symbol_table.h"

struct kallsyms {
	struct tally_str kernel, modules;
};

/* text has a NUL after its len bytes, as file_read leaves it. */
void kallsyms_open(char *text, size_t len, struct kallsyms *kallsyms);
/* False: out of memory. Symbols are added; the caller finishes the table with SYMBOLS_UNSIZED. */
bool kallsyms_add_kernel(const struct kallsyms *kallsyms, struct symbol_table *table, bool *is_hidden);
/* module: its name in brackets. */
bool kallsyms_add_module(
	const struct kallsyms *kallsyms, struct tally_str module, struct arena *arena, struct symbol_table *table);
struct kallsyms_place {
	uint64_t start, end; /* end: where the next symbol of the kernel, or of the module, starts */
	struct tally_str module; /* in brackets; empty: the kernel itself */
};

/* The first of that name by address, the kernel's own before those of modules. False: there is none, or its address is
 * hidden. */
bool kallsyms_find(const struct kallsyms *kallsyms, struct tally_str name, struct kallsyms_place *place);
/* The address of that symbol; 0 if it is missing. */
uint64_t kallsyms_address(const struct symbol_table *table, const char *name);

#endif
