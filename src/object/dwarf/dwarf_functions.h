/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_functions.h - finds the functions of a unit, and the calls inlined into them, by address.
 *
 * The caller owns the functions (dwarf_functions_deinit). A function with several ranges has several entries in ranges.
 * Of nested ranges the innermost is found; callers follow from the nesting of the entries, so functions that were
 * folded to one address do not call each other.
 *
 * Bad input: damage ends the walk; the functions before it stay, and is_damaged is set.
 *
 *	dwarf_functions_read(&functions, &reader, file, unit, err);
 *	for (uint32_t f = dwarf_functions_find(&functions, address); f != DWARF_NO_FUNCTION; f = functions.items[f].caller)
 */
#ifndef OBJECT_DWARF_DWARF_FUNCTIONS_H
#define OBJECT_DWARF_DWARF_FUNCTIONS_H

#include "object/dwarf/dwarf_entry.h"

#define DWARF_NO_FUNCTION UINT32_MAX

struct dwarf_function {
	uint64_t entry; /* offset in DWARF_INFO of the file it was read from */
	uint32_t caller; /* the function that it was inlined into; DWARF_NO_FUNCTION: it was not inlined */
	uint32_t call_file, call_line; /* where it was inlined: of the unit's line table; 0: not said */
};

struct dwarf_code_range {
	uint64_t low, high;
	uint32_t function;
	uint32_t enclosing; /* index of the smallest range around this one; DWARF_NO_FUNCTION: none */
};

struct dwarf_functions {
	VEC(struct dwarf_function) functions;
	VEC(struct dwarf_code_range) ranges; /* by low, outer ones first */
	bool is_damaged;
};

/* NOMEM only. */
TALLY_MUST_CHECK enum tally_status dwarf_functions_read(struct dwarf_functions *functions, struct dwarf_reader *reader,
	const struct dwarf_file *file, const struct dwarf_unit *unit, struct tally_error *err);
void dwarf_functions_deinit(struct dwarf_functions *functions);
/* The innermost function at address; DWARF_NO_FUNCTION if none. */
uint32_t dwarf_functions_find(const struct dwarf_functions *functions, uint64_t address);
/* The function's range that has the address; NULL: none has. */
const struct dwarf_code_range *dwarf_functions_range(
	const struct dwarf_functions *functions, uint32_t function, uint64_t address);

#endif
