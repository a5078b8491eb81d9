/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_input.h - defines the input of the value tracker, and the accesses that it finds. Plain data.
 */
#ifndef CODE_TYPES_VALUE_INPUT_H
#define CODE_TYPES_VALUE_INPUT_H

#include "code/disasm/disassembler.h"
#include "object/dwarf/dwarf_variables.h"

struct value_place { /* what an instruction accesses */
	uint64_t address; /* of the instruction */
	enum value_place_kind {
		VALUE_PLACE_NONE, /* no memory */
		VALUE_PLACE_STACK, /* push, pop, call, return */
		VALUE_PLACE_NO_VARIABLE, /* nothing is known of what its registers hold */
		VALUE_PLACE_NO_TYPE, /* what they hold points to nothing that has a type */
		VALUE_PLACE_BAD_OFFSET, /* outside of the object */
		VALUE_PLACE_TYPED
	} kind;
	uint64_t accessed_by; /* the same, or of an instruction before, which it runs as one with */
	bool is_followed; /* not from debug information about the place itself */
	const struct dwarf_type *type;
	uint64_t offset; /* in the type */
};

struct value_places {
	VEC(struct value_place) items; /* by address */
};

struct value_global {
	const struct dwarf_type *type;
	uint64_t offset;
};

struct value_tracker_input {
	struct dwarf_types *types;
	const struct dwarf_variables *variables;
	struct disassembler *disassembler; /* Intel's syntax, for x86 */
	unsigned elf_machine;
	struct tally_bytes code;
	uint64_t start; /* link-time address of the code */
	bool is_entry; /* the function begins there */
	unsigned fused; /* see fused.h */
	/* The variable at a link-time address; false: none. */
	bool (*find_global)(void *context, uint64_t address, struct value_global *global);
	/* What the function at a link-time address returns; false: not known. */
	bool (*find_callee)(void *context, uint64_t address, struct dwarf_reference *callee);
	void *context;
};

#endif
