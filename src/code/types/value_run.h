/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_run.h - follows values through one instruction: the state before it, its accesses, the state after it.
 * value_tracker calls it, and decides the order of instructions.
 *
 *	value_run_enter(&run, &state, address);	// sets the registers that hold variables at the address
 *	place = value_run_place(&run, &state, instruction);
 *	value_run_step(&run, &state, instruction);
 */
#ifndef CODE_TYPES_VALUE_RUN_H
#define CODE_TYPES_VALUE_RUN_H

#include "code/types/value_input.h"
#include "code/types/value_state.h"

/* DWARF numbers of the stack and frame pointers. */
#define VALUE_X86_SP   7
#define VALUE_X86_FP   6
#define VALUE_ARM64_SP 31

struct value_instruction {
	uint64_t address;
	struct operation operation;
	/* Index in states of the merged state before the instruction; set only if a jump leads to it. */
	uint32_t state;
	bool is_known;
};

/* A variable in one range of addresses. */
struct value_variable {
	uint64_t low, high;
	uint32_t order; /* Nesting order: variables of inner scopes have higher numbers. */
	/* For DWARF_STORAGE_AT_FRAME_BASE, offset is relative to the canonical frame address. */
	struct dwarf_storage storage;
	const struct dwarf_type *type;
};

struct value_run {
	const struct value_tracker_input *input;
	VEC(struct value_instruction) instructions;
	VEC(struct value_state) states;
	VEC(struct value_variable) variables; /* Sorted by low. */
	VEC(uint32_t) active; /* Indexes of the variables that are valid at the current address, sorted by order. */
	VEC(struct dwarf_call) calls; /* Sorted by return address. */
	size_t next_variable;
	struct value_state indirect; /* Merged state at all jumps with unknown targets. */
	bool is_followed; /* False: each instruction is analysed by itself. */
	bool out_of_memory;
};

/* Returns the first item with an address in an array of count items, each of which has the given number of bytes and
 * begins with its address (a uint64_t); the array is sorted by address. Returns NULL if there is none. */
void *value_item_at(void *items, size_t count, size_t bytes, uint64_t address);
/* Prepares for a pass that begins at the first instruction. */
void value_run_rewind(struct value_run *run);
/* Sets the registers in which debug information places variables at the address. Addresses must ascend until
 * value_run_rewind is called. */
void value_run_enter(struct value_run *run, struct value_state *state, uint64_t address);
/* Returns the data that the instruction accesses, given the state before it. */
struct value_place value_run_place(
	struct value_run *run, const struct value_state *state, const struct value_instruction *instruction);
/* Changes the state before the instruction into the state after it. */
void value_run_step(struct value_run *run, struct value_state *state, const struct value_instruction *instruction);

#endif
