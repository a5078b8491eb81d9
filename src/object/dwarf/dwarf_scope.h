/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_scope.h - reads the variables that the source can name at an address: those of the blocks that hold the address
 * in a function or in a call that was inlined, and those of a unit outside its functions.
 *
 * The caller owns the scope (deinit). Names and locations are borrowed from the sections. Variables of inner blocks
 * follow those of outer ones: the last one of a name hides the others.
 *
 * Bad input: damage ends the walk; the variables before it stay. Each call takes time in proportion to the unit, so that
 * it is not charged to dwarf_budget.h: many places of one function are read.
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
	struct dwarf_reference at; /* its entry */
	struct tally_str name;
	struct dwarf_reference type; /* file NULL: not said */
	struct dwarf_location location; /* NONE: it has none, or its value is constant */
	bool is_constant;
	bool is_parameter;
	bool is_declared_only; /* it is defined elsewhere */
	bool has_address; /* set by users that know it from elsewhere: there is no location */
	uint64_t address;
	uint64_t constant; /* if there are no bytes */
	struct tally_bytes constant_bytes;
	size_t first_span, span_count; /* in spans: the code of its block; 0: everywhere */
};

struct dwarf_scope {
	VEC(struct dwarf_scope_variable) items;
	VEC(struct dwarf_span) spans;
	struct dwarf_location frame_base; /* of the function */
	struct tally_str function; /* its name in the source */
	uint64_t entry; /* where its first range begins; 0: not said */
};

/* inlined: entry of a call inlined into the function whose variables are wanted; 0: those of the function. NOMEM only.
 */
TALLY_MUST_CHECK enum tally_status dwarf_scope_read(struct dwarf_scope *scope, struct dwarf_reader *reader,
	const struct dwarf_function_place *function, uint64_t inlined, uint64_t address, struct tally_error *err);
/* Adds those outside functions, in namespaces too. NOMEM only. */
TALLY_MUST_CHECK enum tally_status dwarf_scope_add_unit(struct dwarf_scope *scope, struct dwarf_reader *reader,
	const struct dwarf_file *file, const struct dwarf_unit *unit, struct tally_error *err);
/* Whether an entry that stands for another one (a function, an inlined call) has a variable of this name there: then it
 * was optimised out where it is not in the scope. */
bool dwarf_scope_is_declared(struct dwarf_reader *reader, struct dwarf_reference function, struct tally_str name);
/* The variable that an entry describes; false: it cannot be read. unit has the entry. */
bool dwarf_scope_variable_at(struct dwarf_reader *reader, const struct dwarf_file *file, const struct dwarf_unit *unit,
	uint64_t entry, struct dwarf_scope_variable *variable);
/* The type of what a function returns. False: nothing, or it is not said. */
bool dwarf_scope_result_type(struct dwarf_reader *reader, const struct dwarf_file *file, const struct dwarf_unit *unit,
	uint64_t function, struct dwarf_reference *type);
void dwarf_scope_deinit(struct dwarf_scope *scope);

#endif
