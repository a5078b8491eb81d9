/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation.h - describes what an instruction does with registers and memory, as far as values can be followed: copies,
 * loads, stores, addresses, sums. A plain value.
 *
 * Registers have DWARF numbers. Loads, stores and copies are described only if they are as wide as an address; for
 * every instruction, the member `written` has all registers that it changes. x86-64 and aarch64.
 *
 *	if (disassembler_operation(d, bytes, address, &operation) && operation.memory.is_there) ...
 */
#ifndef CODE_DISASM_OPERATION_H
#define CODE_DISASM_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

#define OPERATION_NO_REGISTER 0xff
#define OPERATION_REGISTERS   32

enum operation_kind {
	OPERATION_OTHER,
	OPERATION_COPY, /* to = from */
	OPERATION_LOAD, /* to = memory; second = the next word in memory. */
	OPERATION_STORE, /* memory = from; the next word in memory = second. */
	OPERATION_ADDRESS, /* to = address of memory */
	OPERATION_CONSTANT, /* to = constant */
	OPERATION_ADD_CONSTANT, /* to = from + constant */
	OPERATION_ADD_REGISTER, /* to = from + second */
	OPERATION_PUSH, /* Pushes the register from, or something else if that is OPERATION_NO_REGISTER. */
	OPERATION_POP, /* Pops into the register to. */
	OPERATION_LEAVE, /* Sets the stack pointer to the frame pointer, and pops the latter (x86). */
	OPERATION_JUMP,
	OPERATION_CALL,
	OPERATION_RETURN
};

struct operation_memory {
	bool is_there; /* Memory is read or written, or its address is computed. */
	/* The operand has no base register: its address is the member `address`, plus an index if there is one. */
	bool is_absolute;
	bool is_in_segment; /* The offset is relative to a segment base, that is, to data of the thread or the CPU. */
	bool is_address_only; /* Only the address is computed; memory is neither read nor written. */
	uint8_t base, index; /* OPERATION_NO_REGISTER if none; the scale of the index is not described. */
	uint8_t bytes; /* Number of accessed bytes; 0 if not known. */
	int64_t offset;
	uint64_t address;
};

/* Kinds of x86 instructions that the CPU may fuse with the next one. */
enum operation_fusing {
	OPERATION_FUSES_NEVER,
	OPERATION_FUSES_COMPARE, /* cmp, test */
	OPERATION_FUSES_SUM, /* The instructions add, sub and and; also additions and subtractions of SSE. */
	OPERATION_FUSES_STEP, /* inc, dec */
	OPERATION_FUSES_LOGIC /* or, xor */
};

struct operation {
	enum operation_kind kind;
	enum operation_fusing fusing;
	unsigned size; /* Size of the instruction in bytes. */
	uint8_t to, from, second;
	int64_t constant;
	struct operation_memory memory;
	int64_t step; /* Added to the base register (aarch64 pre- and post-index). */
	bool is_stack; /* It implicitly accesses the top of the stack. */
	uint64_t written; /* Bit mask of the registers that change. */
	bool goes_on; /* Execution may continue at the next instruction. */
	bool has_target; /* It is a jump or call with a known target. */
	uint64_t target;
};

#endif
