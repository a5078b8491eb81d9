/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_functions.h - finds the functions of a unit, and the calls inlined into them, by address.
 *
 * The caller owns the functions (dwarf_functions_deinit). A function with several ranges has several items in ranges.
 * The innermost of nested ranges is found; callers follow from the nesting of the entries, so that functions which were
 * folded to one address do not call each other.
 *
 * Bad input: damage ends the walk; the functions before it remain, and is_damaged is set.
 *
 *	dwarf_functions_read(&functions, &reader, file, unit, err);
 *	uint32_t f = dwarf_functions_find(&functions, address);
 *	for (; f != DWARF_NO_FUNCTION; f = functions.functions.items[f].caller) ...
 */
#ifndef OBJECT_DWARF_DWARF_FUNCTIONS_H
#define OBJECT_DWARF_DWARF_FUNCTIONS_H

#include "object/dwarf/dwarf_entry.h"

#define DWARF_NO_FUNCTION UINT32_MAX

struct dwarf_function {
	uint64_t entry; /* Offset in DWARF_INFO of the file from which it was read. */
	uint32_t caller; /* Index of the function into which it was inlined; DWARF_NO_FUNCTION if it was not inlined. */
	uint32_t call_file, call_line; /* Place of the inlined call, in the unit's line table; 0 if not known. */
};

struct dwarf_code_range {
	uint64_t low, high;
	uint32_t function;
	uint32_t enclosing; /* Index of the smallest range around this one; DWARF_NO_FUNCTION if none. */
};

struct dwarf_functions {
	VEC(struct dwarf_function) functions;
	VEC(struct dwarf_code_range) ranges; /* Sorted by low, outer ones first. */
	bool is_damaged;
};

/* Reads the functions of a unit. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status dwarf_functions_read(struct dwarf_functions *functions, struct dwarf_reader *reader,
	const struct dwarf_file *file, const struct dwarf_unit *unit, struct tally_error *err);
void dwarf_functions_deinit(struct dwarf_functions *functions);
/* Returns the index of the innermost function at address; DWARF_NO_FUNCTION if none. */
uint32_t dwarf_functions_find(const struct dwarf_functions *functions, uint64_t address);
/* Returns the function's range that contains the address; NULL if none. */
const struct dwarf_code_range *dwarf_functions_range(
	const struct dwarf_functions *functions, uint32_t function, uint64_t address);

#endif
