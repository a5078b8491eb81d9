/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_variables.h - reads the variables of a function with their locations, the return types of its calls, and
 * variables with static addresses.
 *
 * The caller owns the result (dwarf_variables_deinit, dwarf_globals_deinit). Types are references for dwarf_type_at.
 * Variables of inner scopes follow those of outer ones.
 *
 * Bad input: damage ends the walk; the variables before it remain.
 *
 *	dwarf_variables_read(&variables, &reader, &lists, function, err);
 *	for (size_t i = 0; i < variables.items.len; i++) ... pc in [low, high)
 */
#ifndef OBJECT_DWARF_DWARF_VARIABLES_H
#define OBJECT_DWARF_DWARF_VARIABLES_H

#include "object/dwarf/dwarf_location.h"
#include "object/dwarf/dwarf_type.h"

struct dwarf_variable {
	uint64_t low, high; /* Range of code in which storage is valid. */
	struct dwarf_storage storage;
	struct dwarf_reference type;
};

struct dwarf_call {
	uint64_t return_address;
	struct dwarf_reference callee; /* Entry of the called function, which has the return type. */
};

struct dwarf_variables {
	VEC(struct dwarf_variable) items;
	VEC(struct dwarf_call) calls;
	struct dwarf_storage frame_base;
	uint64_t entry; /* Start of its first range, where it is entered; 0 if not known. */
};

/* The function to read. */
struct dwarf_function_place {
	const struct dwarf_file *file;
	const struct dwarf_unit *unit;
	uint64_t entry;
};

struct dwarf_global {
	uint64_t address;
	struct dwarf_reference type;
};

struct dwarf_globals {
	VEC(struct dwarf_global) items; /* In file order. */
};

/* Reads the variables of a function. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status dwarf_variables_read(struct dwarf_variables *variables, struct dwarf_reader *reader,
	const struct dwarf_location_lists *lists, const struct dwarf_function_place *function, struct tally_error *err);
void dwarf_variables_deinit(struct dwarf_variables *variables);

/* Adds the variables of a unit that have static addresses, including those in functions. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status dwarf_globals_add(struct dwarf_globals *globals, struct dwarf_reader *reader,
	const struct dwarf_file *file, const struct dwarf_unit *unit, struct tally_error *err);
void dwarf_globals_deinit(struct dwarf_globals *globals);

#endif
