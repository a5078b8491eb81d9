/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_functions.h - lists the functions of a binary that have code, by the names that they have in the source, with
 * all of their code: out of line, copies that the compiler made, and calls that were inlined; and where their statements
 * begin.
 *
 * Made on first use for a binary and owned by it (probe_functions_free). It reads the entries of all units once;
 * statements of a unit when they are asked for. Names borrow from the binary. One thread.
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

struct probe_code { /* some code of a function */
	uint32_t unit; /* of the debug information */
	uint32_t function; /* index in the functions of the unit: out of line, or inlined */
};

struct probe_root { /* a function of the source */
	struct dwarf_declaration declaration;
	uint32_t order; /* of the files of debug information that its entry is in */
	uint32_t unit; /* that has some of its code */
	uint32_t first, count; /* in codes */
	const char *readable; /* demangled; made when needed */
	const char *path; /* where it is declared, when path_is_known; NULL: not known */
	bool path_is_known;
};

struct probe_unit {
	struct debug_unit debug; /* functions NULL: its functions are not known */
	uint32_t *roots; /* by function */
	struct dwarf_lines lines; /* with statements, when lines_are_read */
	bool lines_are_read;
	const char **paths; /* by file, made when needed */
};

struct probe_functions {
	struct probe_binary *binary;
	struct dwarf_reader reader;
	struct arena arena;
	VEC(struct probe_root) roots; /* in the order of their entries */
	VEC(struct probe_code) codes; /* by root, in the order of their entries */
	struct probe_unit *units;
	uint32_t unit_count;
	uint64_t unread_units; /* whose functions are not known: damaged, or their .dwo is missing */
};

/* NOT_FOUND: the binary has no debug information. */
TALLY_MUST_CHECK enum tally_status probe_functions_of(
	struct probe_binary *binary, struct probe_functions **functions, struct tally_error *err);
/* NULL is nothing. */
void probe_functions_free(struct probe_functions *functions);

enum probe_match { /* in the order in which they are tried: the first that finds something counts */
	PROBE_MATCH_NAME, /* the name in the source ("area", "largest<int>"), or of the symbol */
	PROBE_MATCH_INSTANCE, /* "largest" of a template's instances */
	PROBE_MATCH_QUALIFIED /* with namespaces and classes, or some of them: "shapes::Circle::area", "Circle::area" */
};

/* The pattern may have wildcards. */
bool probe_root_matches(
	struct probe_functions *functions, struct probe_root *root, struct tally_str pattern, enum probe_match match);
struct tally_str probe_root_name(const struct probe_root *root);
/* Where it is declared; NULL: not known. */
const char *probe_root_path(struct probe_functions *functions, struct probe_root *root);

/* The unit with its statements; NULL: out of memory. */
const struct dwarf_lines *probe_unit_lines(struct probe_functions *functions, uint32_t unit);
/* The path of a file of the unit's line table; NULL: there is none. */
const char *probe_unit_path(struct probe_functions *functions, uint32_t unit, uint32_t file);

/* The function that was called from outside, in which that code was inlined; itself, if it was not. */
struct probe_code probe_code_outer(const struct probe_functions *functions, struct probe_code code);
/* What the code was inlined into directly; false: it was not inlined. */
bool probe_code_caller(const struct probe_functions *functions, struct probe_code code, struct probe_code *caller);
/* gcc splits the rare part of a function off, and inlines it again where the rest is: the function is not entered there. */
bool probe_code_is_continued(const struct probe_functions *functions, struct probe_code code);
uint32_t probe_code_root(const struct probe_functions *functions, struct probe_code code);
/* Where it is entered. */
bool probe_code_entry(struct probe_functions *functions, struct probe_code code, uint64_t *address);
/* Whether the address is in it, inlined calls included. */
bool probe_code_covers(const struct probe_functions *functions, struct probe_code code, uint64_t address);
/* The innermost code at an address, of a unit. */
bool probe_code_at(const struct probe_functions *functions, uint32_t unit, uint64_t address, struct probe_code *code);
/* The unit of an address. */
bool probe_unit_at(const struct probe_functions *functions, uint64_t address, uint32_t *unit);

#endif
