/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_lines.h - reads the line table of a unit: which source line the code at an address comes from. DWARF 2 to 5.
 *
 * The caller owns the lines (dwarf_lines_deinit); names are borrowed from the file. Rows are sorted by address; of
 * several rows at one address the last one counts, as in other readers. Code that the linker dropped (address 0, or the
 * highest ones) is left out.
 *
 * Bad input: a truncated or damaged table gives the rows before the damage, and is_damaged is set.
 *
 *	dwarf_lines_read(&lines, &reader, file, unit, err);
 *	const struct dwarf_line_row *row = dwarf_lines_find(&lines, address);
 */
#ifndef OBJECT_DWARF_DWARF_LINES_H
#define OBJECT_DWARF_DWARF_LINES_H

#include "object/dwarf/dwarf_entry.h"

#define DWARF_NO_FILE		UINT32_MAX
#define DWARF_ROW_END		UINT32_C(0xfffff) /* as the file of a row: code of the unit ends here */
#define DWARF_ROW_OTHER		UINT32_C(0xffffe) /* a file of a higher number: not known */
#define DWARF_DISCRIMINATOR_MAX UINT32_C(0xfff) /* higher ones are left out: those of profile-guided builds */

struct dwarf_line_row {
	uint64_t address;
	uint32_t file : 20; /* as the table counts them, or DWARF_ROW_* */
	uint32_t discriminator : 12; /* tells code of one line apart; 0: none */
	uint32_t line; /* 0: no line of the source */
};

struct dwarf_statement { /* where the code of a statement begins: what debuggers stop at */
	uint64_t address;
	uint32_t file, line; /* as in a row */
	uint32_t order; /* of the table */
	bool ends_prologue; /* the compiler says that the function's variables are there from here on */
};

struct dwarf_line_file {
	struct tally_str name;
	uint64_t directory;
};

struct dwarf_lines {
	VEC(struct dwarf_line_row) rows;
	VEC(struct dwarf_statement)
	statements; /* of dwarf_lines_read_statements, by address, all of one address in the table's order */
	VEC(struct dwarf_line_file) files; /* [0] is the unit's own before DWARF 5, too */
	VEC(struct tally_str) directories; /* [0]: where the compiler ran */
	bool is_damaged;
};

/* NOMEM only; a unit without a table gives none. */
TALLY_MUST_CHECK enum tally_status dwarf_lines_read(struct dwarf_lines *lines, struct dwarf_reader *reader,
	const struct dwarf_file *file, const struct dwarf_unit *unit, struct tally_error *err);
/* The same with statements. */
TALLY_MUST_CHECK enum tally_status dwarf_lines_read_statements(struct dwarf_lines *lines, struct dwarf_reader *reader,
	const struct dwarf_file *file, const struct dwarf_unit *unit, struct tally_error *err);
void dwarf_lines_deinit(struct dwarf_lines *lines);
/* The row that covers address; NULL if none does. */
const struct dwarf_line_row *dwarf_lines_find(const struct dwarf_lines *lines, uint64_t address);
/* Directory and name as one path in the arena; NULL: no such file or no memory. */
const char *dwarf_lines_path(const struct dwarf_lines *lines, uint32_t file, struct arena *arena);

#endif
