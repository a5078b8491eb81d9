/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_declaration.h - reads the names, the declaring file and line, and the entry address of a function from its
 * entry and those to which it refers (its abstract entry, its declaration).
 *
 * Names are borrowed from the sections. Bad input: a chain of references ends at an unreadable entry, or at a limit.
 *
 *	struct dwarf_declaration declaration;
 *	dwarf_declaration_read(&declaration, &reader, file, entry);
 */
#ifndef OBJECT_DWARF_DWARF_DECLARATION_H
#define OBJECT_DWARF_DWARF_DECLARATION_H

#include "object/dwarf/dwarf_entry.h"

struct dwarf_declaration {
	struct tally_str name, linkage; /* data is NULL if there is none. */
	uint32_t line; /* 0 if not known. */
	uint64_t path; /* File number in the line table of path_unit in path_file. */
	const struct dwarf_file *path_file; /* NULL if not known. */
	const struct dwarf_unit *path_unit;
	/* The last abstract entry, which is the same for all code of a function, inlined or not. */
	const struct dwarf_file *root_file;
	uint64_t root;
	/* The next entry to read; next_file is NULL if there is none. */
	const struct dwarf_file *next_file;
	uint64_t next;
	bool is_abstract; /* The next entry is an abstract one, not a declaration. */
};

/* Reads all entries. Returns false if the first one cannot be read. */
bool dwarf_declaration_read(struct dwarf_declaration *declaration, struct dwarf_reader *reader,
	const struct dwarf_file *file, uint64_t entry);
/* Read the entries step by step: dwarf_declaration_begin, then dwarf_declaration_next until next_file is NULL. */
void dwarf_declaration_begin(struct dwarf_declaration *declaration, const struct dwarf_file *file, uint64_t entry);
bool dwarf_declaration_next(struct dwarf_declaration *declaration, struct dwarf_reader *reader);
/* Returns the linkage name of the function at an entry, else its source name; {NULL, 0} if it has none. */
struct tally_str dwarf_function_name(struct dwarf_reader *reader, const struct dwarf_file *file, uint64_t entry);
/* Finds the address at which the code of an entry is entered: DW_AT_entry_pc, or the start of its first range. Returns
 * false if it has no code. unit contains the entry. */
bool dwarf_function_entered(struct dwarf_reader *reader, const struct dwarf_file *file, const struct dwarf_unit *unit,
	uint64_t entry, uint64_t *address);
/* Returns DW_AT_producer of a unit: the compiler and its options; {NULL, 0} if not known. */
struct tally_str dwarf_unit_producer(
	struct dwarf_reader *reader, const struct dwarf_file *file, const struct dwarf_unit *unit);

#endif
