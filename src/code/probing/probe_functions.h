/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_functions.h - lists the functions of a binary that have code, by their names in the source, with all of their
 * code (out of line, copies by the compiler, and inlined calls), and the addresses at which their statements begin.
 *
 * The list is built on first use and owned by the binary (probe_functions_free). It reads the entries of all units
 * once, and the statements of a unit when they are requested. Names are borrowed from the binary. One thread.
 *
 *	if (probe_functions_of(binary, &functions, err) == TALLY_OK)
 *		for (size_t i = 0; i < functions->roots.len; i++)
 *			if (probe_root_matches(functions, &functions->roots.items[i], pattern, PROBE_MATCH_NAME)) ...
 */
#ifndef CODE_PROBING_PROBE_FUNCTIONS_H
#define CODE_PROBING_PROBE_FUNCTIONS_H

#include "code/probing/probe_place.h"
#include "object/dwarf/dwarf_declaration.h"
#include "object/dwarf/dwarf_functions.h"
#include "object/dwarf/dwarf_lines.h"

#define PROBE_NO_ROOT UINT32_MAX

/* A piece of code of a function. */
struct probe_code {
	uint32_t unit; /* Index of the unit in the debug information. */
	uint32_t function; /* Index in the unit's list of functions: one out of line, or an inlined call. */
};

/* A function in the source, with all pieces of its code. */
struct probe_root {
	struct dwarf_declaration declaration;
	uint32_t order; /* Number of the debug file that contains its entry, for sorting. */
	uint32_t unit; /* A unit that contains some of its code. */
	uint32_t first, count; /* Slice of codes in struct probe_functions. */
	const char *readable; /* Demangled name; created when needed. */
	const char *path; /* Path of the file that declares it, or NULL; probe_root_path determines it on first use. */
	bool path_is_known; /* path was determined. */
};

struct probe_unit {
	struct debug_unit debug; /* Its member functions is NULL if the unit could not be read. */
	uint32_t *roots; /* Index in roots for each function of the unit; PROBE_NO_ROOT if none. */
	struct dwarf_lines lines; /* Line table with statements, valid if lines_are_read. */
	bool lines_are_read;
	const char **paths; /* Paths of the unit's files, created when needed. */
};

struct probe_functions {
	struct probe_binary *binary;
	struct dwarf_reader reader;
	struct arena arena;
	VEC(struct probe_root) roots; /* Sorted by the position of their entries. */
	VEC(struct probe_code) codes; /* Grouped by root, in the order of their entries. */
	struct probe_unit *units;
	uint32_t unit_count;
	uint64_t unread_units; /* Number of units that could not be read: damaged, or their .dwo file is missing. */
};

/* Returns the functions of the binary. NOT_FOUND: it has no debug information. */
TALLY_MUST_CHECK enum tally_status probe_functions_of(
	struct probe_binary *binary, struct probe_functions **functions, struct tally_error *err);
void probe_functions_free(struct probe_functions *functions);

/* Kinds of matches, in the order in which they are tried; the first one with a result is used. */
enum probe_match {
	PROBE_MATCH_NAME, /* The name in the source ("area", "largest<int>"), or the linkage name. */
	PROBE_MATCH_INSTANCE, /* The name without template arguments: "largest" for "largest<int>". */
	/* The name with some or all namespaces and classes: "shapes::Circle::area", "Circle::area". */
	PROBE_MATCH_QUALIFIED
};

/* Returns whether a function matches. The pattern may have wildcards. */
bool probe_root_matches(
	struct probe_functions *functions, struct probe_root *root, struct tally_str pattern, enum probe_match match);
/* Returns the name in the source, or else the linkage name; its data is NULL if the function has none. */
struct tally_str probe_root_name(const struct probe_root *root);
/* Returns the path of the file that declares it; NULL if not known. */
const char *probe_root_path(struct probe_functions *functions, struct probe_root *root);

/* Returns the unit's line table with statements; NULL if memory runs out. */
const struct dwarf_lines *probe_unit_lines(struct probe_functions *functions, uint32_t unit);
/* Returns the path of a file of the unit's line table; NULL if there is none. */
const char *probe_unit_path(struct probe_functions *functions, uint32_t unit, uint32_t file);

/* Returns the out-of-line function into which the code was inlined; the code itself if it was not inlined. */
struct probe_code probe_code_outer(const struct probe_functions *functions, struct probe_code code);
/* Returns the code into which it was inlined directly; false if it was not inlined. */
bool probe_code_caller(const struct probe_functions *functions, struct probe_code code, struct probe_code *caller);
/* Returns whether the code is a continuation of its caller: gcc may split off the rare part of a function and inline it
 * into the rest again. The function is not entered there. */
bool probe_code_is_continued(const struct probe_functions *functions, struct probe_code code);
/* Returns the index in roots of the function to which the code belongs; PROBE_NO_ROOT if none. */
uint32_t probe_code_root(const struct probe_functions *functions, struct probe_code code);
/* Returns the address at which the code is entered; false if it has none. */
bool probe_code_entry(struct probe_functions *functions, struct probe_code code, uint64_t *address);
/* Returns whether the code contains the address, including inlined calls. */
bool probe_code_covers(const struct probe_functions *functions, struct probe_code code, uint64_t address);
/* Finds the innermost code of a unit at an address; returns false if there is none. */
bool probe_code_at(const struct probe_functions *functions, uint32_t unit, uint64_t address, struct probe_code *code);
/* Finds the unit that contains an address; returns false if there is none. */
bool probe_unit_at(const struct probe_functions *functions, uint64_t address, uint32_t *unit);

#endif
