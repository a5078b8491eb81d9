/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_declaration.h - reads what an entry of a function, and those that it refers to (its abstract entry, its
 * declaration), say of it: names, where it is declared, and where its code is entered.
 *
 * Names are borrowed from the sections. Bad input: a chain of references ends at what cannot be read, or at a limit.
 *
 *	struct dwarf_declaration declaration;
 *	dwarf_declaration_read(&declaration, &reader, file, entry);
 */
#ifndef OBJECT_DWARF_DWARF_DECLARATION_H
#define OBJECT_DWARF_DWARF_DECLARATION_H

#include "object/dwarf/dwarf_entry.h"

struct dwarf_declaration {
	struct tally_str name, linkage; /* data NULL: none */
	uint32_t line; /* 0: not said */
	uint64_t path; /* number of the file, of the line table of path_unit in path_file */
	const struct dwarf_file *path_file; /* NULL: not said */
	const struct dwarf_unit *path_unit;
	/* The last abstract entry: all code of one function has the same, inlined or not. */
	const struct dwarf_file *root_file;
	uint64_t root;
	/* The next entry to read; file NULL: none. */
	const struct dwarf_file *next_file;
	uint64_t next;
	bool is_abstract; /* the next entry is an abstract one, not a declaration */
};

/* False: the entry itself cannot be read. */
bool dwarf_declaration_read(struct dwarf_declaration *declaration, struct dwarf_reader *reader,
	const struct dwarf_file *file, uint64_t entry);
/* Step by step: begin, then next until next_file is NULL. */
void dwarf_declaration_begin(struct dwarf_declaration *declaration, const struct dwarf_file *file, uint64_t entry);
bool dwarf_declaration_next(struct dwarf_declaration *declaration, struct dwarf_reader *reader);
/* The linkage name of the function at an entry, else its source name; {NULL, 0} if it has none. */
struct tally_str dwarf_function_name(struct dwarf_reader *reader, const struct dwarf_file *file, uint64_t entry);
/* The address at which the code of an entry is entered: what it says, or where its first range begins. False: it has
 * no code. unit: as debug_unit has it. */
bool dwarf_function_entered(struct dwarf_reader *reader, const struct dwarf_file *file, const struct dwarf_unit *unit,
	uint64_t entry, uint64_t *address);
/* What compiled a unit, with its options: the text of its first entry; {NULL, 0}: not said. */
struct tally_str dwarf_unit_producer(
	struct dwarf_reader *reader, const struct dwarf_file *file, const struct dwarf_unit *unit);

#endif
