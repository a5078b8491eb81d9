/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruction.h - describes one disassembled instruction: its text and its target. A plain value.
 */
#ifndef CODE_DISASM_INSTRUCTION_H
#define CODE_DISASM_INSTRUCTION_H

#include "base/bytes.h"

#define INSTRUCTION_MNEMONIC_BYTES 80
#define INSTRUCTION_OPERANDS_BYTES 192

enum instruction_kind {
	INSTRUCTION_OTHER,
	INSTRUCTION_JUMP,
	INSTRUCTION_CALL,
	INSTRUCTION_RETURN,
	INSTRUCTION_BAD, /* Bytes that are not a known instruction of the machine. */
};

struct instruction {
	uint64_t address;
	unsigned size; /* Size in bytes, at least 1. */
	enum instruction_kind kind;
	/* Execution never continues at the next instruction: unconditional jumps, calls, returns, traps. */
	bool always_leaves;
	bool has_target; /* It is a jump or call, and the text ends with the target's address. */
	bool has_data; /* It has a PC-relative memory operand; the member data is its address. */
	uint64_t target, data;
	char mnemonic[INSTRUCTION_MNEMONIC_BYTES]; /* Mnemonic with prefixes: "lock cmpxchg". */
	/* Operands, such as "$0x1,%eax"; they end with the target if has_target; empty if none. */
	char operands[INSTRUCTION_OPERANDS_BYTES];
	char comment[32]; /* aarch64: the immediate in the other number base; empty if none. */
};

#endif
