/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallsyms.h - parses /proc/kallsyms (or a copy of it) into symbols of the kernel or of one module.
 *
 * The caller owns the text, which must outlive struct kallsyms; names are copied into the arena. One thread. Bad input:
 * an invalid line is skipped. All addresses 0 means that the kernel hides them (kptr_restrict).
 *
 *	kallsyms_open(text, len, &kallsyms);
 *	if (!kallsyms_add_kernel(&kallsyms, &arena, &table, &is_hidden)) ...
 */
#ifndef CODE_SYMBOLS_KALLSYMS_H
#define CODE_SYMBOLS_KALLSYMS_H

#include <tally/status.h>

#include "base/arena.h"
#include "base/vec.h"
#include "code/symbols/symbol_table.h"

/* A list, split before the first line of a module; symbols of the kernel may also follow that line. */
struct kallsyms {
	struct tally_str kernel, modules;
};

/* Returns whether the kernel hides its addresses by printing 0 instead. */
bool kallsyms_is_hidden(const char *text, size_t len);
void kallsyms_open(const char *text, size_t len, struct kallsyms *kallsyms);
/* Adds the kernel's symbols; the caller finishes the table with SYMBOLS_UNSIZED. If the kernel hides its addresses,
 * *is_hidden becomes true and no symbols are added. Returns false if memory runs out. */
bool kallsyms_add_kernel(
	const struct kallsyms *kallsyms, struct arena *arena, struct symbol_table *table, bool *is_hidden);
/* Adds a module's symbols; module is its name in brackets. Returns false if memory runs out. */
bool kallsyms_add_module(
	const struct kallsyms *kallsyms, struct tally_str module, struct arena *arena, struct symbol_table *table);

/* The first line of a part of the kernel's list. */
struct kallsyms_mark {
	uint64_t address;
	size_t offset; /* Offset of the line in the kernel's text. */
};

/* An index of the kernel's lines, which usually are sorted by address. Zero-initialised, it is empty. */
struct kallsyms_marks {
	VEC(struct kallsyms_mark) marks; /* Sorted by address; a part contains at most KALLSYMS_PART addresses. */
	size_t count; /* Number of addresses that have a symbol. */
	uint64_t text, stext; /* Addresses of _text and _stext; 0 if they are missing. */
	bool is_hidden;
};

#define KALLSYMS_PART 64

/* Builds the index. NOT_FOUND: the lines are not sorted, or have an unusual form; kallsyms_add_kernel reads those
 * too. */
TALLY_MUST_CHECK enum tally_status kallsyms_mark(const struct kallsyms *kallsyms, struct kallsyms_marks *marks);
void kallsyms_marks_deinit(struct kallsyms_marks *marks);
/* Adds the symbols between marks[index] and the next mark, and the first one after them, at which the last of them
 * ends. Returns false if memory runs out. */
bool kallsyms_add_part(const struct kallsyms *kallsyms, const struct kallsyms_marks *marks, size_t index,
	struct arena *arena, struct symbol_table *table);

struct kallsyms_place {
	uint64_t start, end; /* The end is the start of the next symbol of the kernel, or of the module. */
	struct tally_str module; /* Module name in brackets; empty for the kernel itself. */
};

/* Finds the symbol with that name that has the lowest address, the kernel's own before those of modules. Returns false
 * if there is none, or its address is hidden. */
bool kallsyms_find(const struct kallsyms *kallsyms, struct tally_str name, struct kallsyms_place *place);
/* Returns the start address of the symbol with that name in a table; 0 if it is missing. */
uint64_t kallsyms_address(const struct symbol_table *table, const char *name);

#endif
