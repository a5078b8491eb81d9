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

struct kallsyms {
	struct tally_str kernel, modules;
};

/* Whether the kernel hides its addresses: it shows 0 instead of them. */
bool kallsyms_is_hidden(const char *text, size_t len);
void kallsyms_open(const char *text, size_t len, struct kallsyms *kallsyms);
/* False: out of memory. Symbols are added; the caller finishes the table with SYMBOLS_UNSIZED. */
bool kallsyms_add_kernel(
	const struct kallsyms *kallsyms, struct arena *arena, struct symbol_table *table, bool *is_hidden);
/* module: its name in brackets. */
bool kallsyms_add_module(
	const struct kallsyms *kallsyms, struct tally_str module, struct arena *arena, struct symbol_table *table);

struct kallsyms_mark { /* a line of the kernel's that starts a part of them */
	uint64_t address;
	size_t offset; /* in the kernel's text */
};

/* Where to look in the kernel's lines, which usually are in order of their addresses. Zero-initialised is empty. */
struct kallsyms_marks {
	VEC(struct kallsyms_mark) marks; /* by address; between two lie no more than KALLSYMS_PART addresses */
	size_t count; /* of addresses that have a name */
	uint64_t text, stext; /* where _text and _stext are; 0: they are missing */
	bool is_hidden;
};

#define KALLSYMS_PART 64

/* NOT_FOUND: the lines are in another order, or in a form that is seldom: kallsyms_add_kernel reads those too. */
TALLY_MUST_CHECK enum tally_status kallsyms_mark(const struct kallsyms *kallsyms, struct kallsyms_marks *marks);
void kallsyms_marks_deinit(struct kallsyms_marks *marks);
/* Adds the symbols between marks[index] and the next mark, and the one after them, where the last of them ends. False:
 * out of memory. */
bool kallsyms_add_part(const struct kallsyms *kallsyms, const struct kallsyms_marks *marks, size_t index,
	struct arena *arena, struct symbol_table *table);

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
