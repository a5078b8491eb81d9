/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruction.h - describes one disassembled instruction: its text and its target. A value.
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
	INSTRUCTION_BAD, /* no instruction of this machine that is known */
};

struct instruction {
	uint64_t address;
	unsigned size; /* bytes; at least 1 */
	enum instruction_kind kind;
	bool always_leaves; /* it never passes control on to the next: jumps without a condition, calls, returns, traps */
	bool has_target; /* of a jump or call whose text names the target */
	bool has_data; /* memory at a fixed distance from the instruction */
	uint64_t target, data;
	char mnemonic[INSTRUCTION_MNEMONIC_BYTES]; /* with its prefixes: "lock cmpxchg" */
	char operands[INSTRUCTION_OPERANDS_BYTES]; /* "$0x1,%eax"; empty: none; ends with the target, if there is one */
	char comment[32]; /* aarch64: the immediate in the other base; empty: none */
};

#endif
