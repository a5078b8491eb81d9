/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_rows.h - finds the addresses at which the code of source lines begins: statements of line tables, entries of
 * functions that are declared there, and entries of calls that were inlined there.
 *
 * The caller owns the rows (vec_free). Paths are borrowed from the functions. One thread.
 *
 *	struct probe_rows rows = {0};
 *	status = probe_rows_find(functions, &(struct probe_row_filter){.path = STR("a.c"), .lines = &line, .count = 1,
 *		.root = PROBE_NO_ROOT}, &rows, err);
 */
#ifndef CODE_PROBING_PROBE_ROWS_H
#define CODE_PROBING_PROBE_ROWS_H

#include "code/probing/probe_functions.h"

struct probe_row_filter {
	struct tally_str path; /* Path of the source file, or its last parts. */
	const uint32_t *lines; /* Line numbers, ascending; NULL for all lines. */
	size_t count;
	uint32_t root; /* Only code of this function; PROBE_NO_ROOT for any. */
	bool no_inlines; /* Only out-of-line code of root. */
	/* If a function is entered at an address, report the line of its declaration rather than that of a statement
	 * there, and do not report declarations of inlined functions. */
	bool is_of_first;
};

struct probe_row {
	uint64_t address; /* Address as in the debug information. */
	const char *path;
	uint32_t line;
	struct probe_code code; /* The code at the address: of root, or the innermost one to which the line belongs. */
};

struct probe_rows {
	/* Without duplicate addresses. Grouped by unit: statements sorted by address, then entries; with is_of_first,
	 * entries of functions come before the statements. */
	VEC(struct probe_row) items;
	uint32_t next_line; /* First line with code after the requested lines; 0 if none. */
};

/* Finds the rows that match filter. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status probe_rows_find(struct probe_functions *functions,
	const struct probe_row_filter *filter, struct probe_rows *rows, struct tally_error *err);
/* Finds the line of the first statement that begins at an address, or else the line of the code that contains it.
 * Returns false if no function contains the address. */
bool probe_row_at(struct probe_functions *functions, uint64_t address, struct probe_row *row);
/* Returns whether path, from debug information, is that of the file wanted: whether they are equal, or the shorter one
 * is relative and the other one ends with it after a slash. A leading "./" of wanted is ignored. */
bool probe_path_matches(const char *path, struct tally_str wanted);
struct probe_paths {
	VEC(const char *) items;
};
/* Returns the matching paths of source files that have code, without duplicates. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status probe_paths_find(
	struct probe_functions *functions, struct tally_str wanted, struct probe_paths *paths, struct tally_error *err);

#endif
