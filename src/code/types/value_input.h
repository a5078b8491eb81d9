/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_input.h - defines the input of the value tracker, and the accesses that it finds. Plain data.
 */
#ifndef CODE_TYPES_VALUE_INPUT_H
#define CODE_TYPES_VALUE_INPUT_H

#include "code/disasm/disassembler.h"
#include "object/dwarf/dwarf_variables.h"

/* The data that an instruction accesses. */
struct value_place {
	uint64_t address; /* Address of the instruction. */
	enum value_place_kind {
		VALUE_PLACE_NONE, /* It does not access memory. */
		VALUE_PLACE_STACK, /* It is push, pop, call or return. */
		VALUE_PLACE_NO_VARIABLE, /* The values of its registers are not known. */
		VALUE_PLACE_NO_TYPE, /* The values of its registers point to nothing that has a type. */
		VALUE_PLACE_BAD_OFFSET, /* The offset is outside of the object. */
		VALUE_PLACE_TYPED
	} kind;
	/* Address of the instruction that accesses the data: this one, or the previous one if the CPU fuses both. */
	uint64_t accessed_by;
	bool is_followed; /* The type was found by following values, not from debug information for this place. */
	const struct dwarf_type *type;
	uint64_t offset; /* Offset in the type. */
};

struct value_places {
	VEC(struct value_place) items; /* Sorted by address. */
};

/* A global variable that contains an address. */
struct value_global {
	const struct dwarf_type *type;
	uint64_t offset; /* Offset of the address in the variable. */
};

struct value_tracker_input {
	struct dwarf_types *types;
	const struct dwarf_variables *variables;
	struct disassembler *disassembler; /* Uses Intel syntax for x86. */
	unsigned elf_machine;
	struct tally_bytes code;
	uint64_t start; /* Link-time address of the code. */
	bool is_entry; /* The function is entered at start. */
	unsigned fused; /* What the recorded CPU fuses; see fused.h. */
	/* Finds the variable at a link-time address; returns false if there is none. */
	bool (*find_global)(void *context, uint64_t address, struct value_global *global);
	/* Finds the debug entry of the function at a link-time address, which has the return type; returns false if not
	 * known. */
	bool (*find_callee)(void *context, uint64_t address, struct dwarf_reference *callee);
	void *context;
};

#endif
