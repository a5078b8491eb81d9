/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_variables.h - reads the variables of a function with their locations, the types that its calls return, and
 * variables with static addresses.
 *
 * The caller owns the result (deinit). Types are references for dwarf_type_at. Variables of inner scopes follow those
 * of outer ones.
 *
 * Bad input: damage ends the walk; the variables before it stay.
 *
 *	dwarf_variables_read(&variables, &reader, &lists, function, err);
 *	for (size_t i = 0; i < variables.items.len; i++) ... pc in [low, high)
 */
#ifndef OBJECT_DWARF_DWARF_VARIABLES_H
#define OBJECT_DWARF_DWARF_VARIABLES_H

#include "object/dwarf/dwarf_location.h"
#include "object/dwarf/dwarf_type.h"

struct dwarf_variable {
	uint64_t low, high; /* code that it is there in */
	struct dwarf_storage storage;
	struct dwarf_reference type;
};

struct dwarf_call {
	uint64_t return_address;
	struct dwarf_reference callee; /* its entry, which says the type returned */
};

struct dwarf_variables {
	VEC(struct dwarf_variable) items;
	VEC(struct dwarf_call) calls;
	struct dwarf_storage frame_base;
	uint64_t entry; /* where its first range begins, at which it is called; 0: not said */
};

struct dwarf_function_place { /* whose variables */
	const struct dwarf_file *file;
	const struct dwarf_unit *unit;
	uint64_t entry;
};

struct dwarf_global {
	uint64_t address;
	struct dwarf_reference type;
};

struct dwarf_globals {
	VEC(struct dwarf_global) items; /* in the order of the file */
};

/* NOMEM only. */
TALLY_MUST_CHECK enum tally_status dwarf_variables_read(struct dwarf_variables *variables, struct dwarf_reader *reader,
	const struct dwarf_location_lists *lists, const struct dwarf_function_place *function, struct tally_error *err);
void dwarf_variables_deinit(struct dwarf_variables *variables);

/* Adds those of a unit, static ones of functions too. NOMEM only. */
TALLY_MUST_CHECK enum tally_status dwarf_globals_add(struct dwarf_globals *globals, struct dwarf_reader *reader,
	const struct dwarf_file *file, const struct dwarf_unit *unit, struct tally_error *err);
void dwarf_globals_deinit(struct dwarf_globals *globals);

#endif
