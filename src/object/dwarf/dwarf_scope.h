/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_scope.h - reads the variables that the source can name at an address: those of the blocks that contain the
 * address in a function or an inlined call, and those of a unit outside its functions.
 *
 * The caller owns the scope (dwarf_scope_deinit). Names and locations are borrowed from the sections. Variables of
 * inner blocks follow those of outer ones: the last one with a name hides the others.
 *
 * Bad input: damage ends the walk; the variables before it remain. Each call takes time in proportion to the unit; it
 * is not charged to dwarf_budget.h, because many places of one function may be read.
 *
 *	dwarf_scope_read(&scope, &reader, &(struct dwarf_function_place){file, unit, function}, inlined, address, err);
 *	for (size_t i = scope.items.len; i-- > 0;) ... scope.items.items[i].name
 */
#ifndef OBJECT_DWARF_DWARF_SCOPE_H
#define OBJECT_DWARF_DWARF_SCOPE_H

#include "object/dwarf/dwarf_location.h"
#include "object/dwarf/dwarf_variables.h"

struct dwarf_span {
	uint64_t low, high;
};

struct dwarf_scope_variable {
	struct dwarf_reference at; /* The variable's entry. */
	struct tally_str name;
	struct dwarf_reference type; /* file is NULL if not known. */
	struct dwarf_location location; /* Kind NONE: it has no location, or its value is constant. */
	bool is_constant;
	bool is_parameter;
	bool is_declared_only; /* The entry is only a declaration. */
	bool has_address; /* Set by callers that found the address in another way; there is no location then. */
	uint64_t address;
	uint64_t constant; /* The constant value if constant_bytes is empty. */
	struct tally_bytes constant_bytes;
	size_t first_span, span_count; /* Slice of spans: the code of its block; count 0 means everywhere. */
};

struct dwarf_scope {
	VEC(struct dwarf_scope_variable) items;
	VEC(struct dwarf_span) spans;
	struct dwarf_location frame_base; /* Frame base of the function. */
	struct tally_str function; /* Source name of the function. */
	uint64_t entry; /* Start of its first range; 0 if not known. */
};

/* Reads the variables at an address. inlined is the entry of an inlined call in the function, to read its variables; 0
 * for those of the function. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status dwarf_scope_read(struct dwarf_scope *scope, struct dwarf_reader *reader,
	const struct dwarf_function_place *function, uint64_t inlined, uint64_t address, struct tally_error *err);
/* Adds the variables of a unit outside its functions, including those in namespaces. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status dwarf_scope_add_unit(struct dwarf_scope *scope, struct dwarf_reader *reader,
	const struct dwarf_file *file, const struct dwarf_unit *unit, struct tally_error *err);
/* Returns whether the abstract entry of a function or an inlined call has a variable with this name; if so and the
 * scope does not have it, the variable was optimised out. */
bool dwarf_scope_is_declared(struct dwarf_reader *reader, struct dwarf_reference function, struct tally_str name);
/* Reads the variable of an entry in unit; returns false if it cannot be read. */
bool dwarf_scope_variable_at(struct dwarf_reader *reader, const struct dwarf_file *file, const struct dwarf_unit *unit,
	uint64_t entry, struct dwarf_scope_variable *variable);
/* Reads the return type of a function. Returns false if it returns nothing, or the type is not known. */
bool dwarf_scope_result_type(struct dwarf_reader *reader, const struct dwarf_file *file, const struct dwarf_unit *unit,
	uint64_t function, struct dwarf_reference *type);
void dwarf_scope_deinit(struct dwarf_scope *scope);

#endif
