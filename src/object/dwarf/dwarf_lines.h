/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_lines.h - reads the line table of a unit, which maps the addresses of code to source lines. DWARF 2 to 5.
 *
 * The caller owns the lines (dwarf_lines_deinit); names are borrowed from the file. Rows are sorted by address; if
 * several rows have the same address, the last one is used, as in other readers. Code that the linker dropped (address
 * 0, or the highest ones) is left out.
 *
 * Bad input: a truncated or damaged table gives the rows before the damage, and is_damaged is set.
 *
 *	dwarf_lines_read(&lines, &reader, file, unit, err);
 *	const struct dwarf_line_row *row = dwarf_lines_find(&lines, address);
 */
#ifndef OBJECT_DWARF_DWARF_LINES_H
#define OBJECT_DWARF_DWARF_LINES_H

#include "object/dwarf/dwarf_entry.h"

#define DWARF_NO_FILE	UINT32_MAX
#define DWARF_ROW_END	UINT32_C(0xfffff) /* File number of a row at which the code of the unit ends. */
#define DWARF_ROW_OTHER UINT32_C(0xffffe) /* File number of a row that has a file number above these limits. */
/* Higher discriminators, which occur in profile-guided builds, are left out. */
#define DWARF_DISCRIMINATOR_MAX UINT32_C(0xfff)

struct dwarf_line_row {
	uint64_t address;
	uint32_t file : 20; /* File number as in the table, or DWARF_ROW_*. */
	uint32_t discriminator : 12; /* Distinguishes pieces of code of one line; 0 if none. */
	uint32_t line; /* 0 if the code has no source line. */
};

/* The start of a statement's code, where debuggers set breakpoints. */
struct dwarf_statement {
	uint64_t address;
	uint32_t file, line; /* Same as in a row. */
	uint32_t order; /* Position in the table. */
	bool ends_prologue; /* The compiler states that the function's variables are valid from here on. */
};

struct dwarf_line_file {
	struct tally_str name;
	uint64_t directory;
};

struct dwarf_lines {
	VEC(struct dwarf_line_row) rows;
	/* Filled by dwarf_lines_read_statements only; sorted by address, then in table order. */
	VEC(struct dwarf_statement) statements;
	VEC(struct dwarf_line_file) files; /* files[0] is the unit's own file, also before DWARF 5. */
	VEC(struct tally_str) directories; /* directories[0] is the compiler's working directory. */
	bool is_damaged;
};

/* Reads the line table of a unit; empty if it has none. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status dwarf_lines_read(struct dwarf_lines *lines, struct dwarf_reader *reader,
	const struct dwarf_file *file, const struct dwarf_unit *unit, struct tally_error *err);
/* Does the same, and also reads the statements. */
TALLY_MUST_CHECK enum tally_status dwarf_lines_read_statements(struct dwarf_lines *lines, struct dwarf_reader *reader,
	const struct dwarf_file *file, const struct dwarf_unit *unit, struct tally_error *err);
void dwarf_lines_deinit(struct dwarf_lines *lines);
/* Returns the row that contains address; NULL if none does. */
const struct dwarf_line_row *dwarf_lines_find(const struct dwarf_lines *lines, uint64_t address);
/* Returns the path of a file, with its directory, in the arena; NULL if there is no such file, or memory runs out. */
const char *dwarf_lines_path(const struct dwarf_lines *lines, uint32_t file, struct arena *arena);

#endif
