/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation.h - describes what an instruction does with registers and memory, as far as values can be followed: copies,
 * loads, stores, addresses, sums. A value.
 *
 * Registers have DWARF's numbers. Loads, stores and copies are described only if they are as wide as an address; all
 * other registers that the instruction writes are in `written`. x86-64 and aarch64.
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
	OPERATION_LOAD, /* to = memory; second: of the word behind it */
	OPERATION_STORE, /* memory = from; second: to the word behind it */
	OPERATION_ADDRESS, /* to = address of memory */
	OPERATION_CONSTANT, /* to = constant */
	OPERATION_ADD_CONSTANT, /* to = from + constant */
	OPERATION_ADD_REGISTER, /* to = from + second */
	OPERATION_PUSH, /* of from, or of something else */
	OPERATION_POP, /* to to */
	OPERATION_LEAVE, /* the stack pointer is the frame pointer, which is popped */
	OPERATION_JUMP,
	OPERATION_CALL,
	OPERATION_RETURN
};

struct operation_memory {
	bool is_there; /* it is read or written, or its address is taken */
	bool is_absolute; /* address is all there is to it, but for an index */
	bool is_in_segment; /* offset counts from a segment's base: of the thread, or of the CPU */
	bool is_address_only; /* neither read nor written */
	uint8_t base, index;
	uint8_t bytes; /* that are accessed; 0: not known */
	int64_t offset;
	uint64_t address;
};

enum operation_fusing { /* x86: instructions that may be fused with the next one */
	OPERATION_FUSES_NEVER,
	OPERATION_FUSES_COMPARE, /* cmp, test */
	OPERATION_FUSES_SUM, /* add, sub, and */
	OPERATION_FUSES_STEP, /* inc, dec */
	OPERATION_FUSES_LOGIC /* or, xor */
};

struct operation {
	enum operation_kind kind;
	enum operation_fusing fusing;
	unsigned size; /* of the instruction */
	uint8_t to, from, second;
	int64_t constant;
	struct operation_memory memory;
	int64_t step; /* added to the base register: aarch64 */
	bool is_stack; /* its memory is the top of the stack, which it does not name */
	uint64_t written; /* registers that change, by bit */
	bool goes_on; /* the next instruction may follow */
	bool has_target; /* of a jump or call */
	uint64_t target;
};

#endif
