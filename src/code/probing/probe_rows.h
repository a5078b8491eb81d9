/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_rows.h - finds the addresses where the code of source lines begins: statements of line tables, entries of
 * functions that are declared there, and of calls that were inlined there.
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
	struct tally_str path; /* of the source, or the end of it */
	const uint32_t *lines; /* ascending; NULL: all */
	size_t count;
	uint32_t root; /* only code of this function; PROBE_NO_ROOT: any */
	bool no_inlines; /* only code of root out of line */
	bool is_of_first; /* an address is of one line only: that of the function which is entered there, or the first */
};

struct probe_row {
	uint64_t address; /* as the debug information has it */
	const char *path;
	uint32_t line;
	struct probe_code code; /* that has the address: of root, or the innermost that the line is of */
};

struct probe_rows {
	VEC(struct probe_row) items; /* unit by unit: statements by address, then entries; each address once */
	uint32_t next_line; /* the first line with code behind the lines wanted; 0: none */
};

/* NOMEM only. */
TALLY_MUST_CHECK enum tally_status probe_rows_find(struct probe_functions *functions,
	const struct probe_row_filter *filter, struct probe_rows *rows, struct tally_error *err);
/* The line of the first statement that begins at an address, or else of what the address is in the middle of. False: no
 * function has the address. */
bool probe_row_at(struct probe_functions *functions, uint64_t address, struct probe_row *row);
/* Whether a path is the one wanted: equal, or its end from a slash on. */
bool probe_path_matches(const char *path, struct tally_str wanted);
struct probe_paths {
	VEC(const char *) items;
};
/* The paths of sources that match, each once, of units with code. NOMEM only. */
TALLY_MUST_CHECK enum tally_status probe_paths_find(
	struct probe_functions *functions, struct tally_str wanted, struct probe_paths *paths, struct tally_error *err);

#endif
