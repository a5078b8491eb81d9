/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruction_text.h - edits the operands of an instruction to convert capstone's syntax to objdump's. Private to this
 * directory.
 *
 * Plain values; nothing is allocated. Text that does not fit is truncated.
 */
#ifndef CODE_DISASM_INSTRUCTION_TEXT_H
#define CODE_DISASM_INSTRUCTION_TEXT_H

#include <capstone/capstone.h>

#include "code/disasm/instruction.h"

#define OPERANDS_MAX	   6
#define OPERAND_TEXT_BYTES 96

/* The operands of an instruction, in the order in which they are written. */
struct operand_words {
	char text[OPERANDS_MAX][OPERAND_TEXT_BYTES];
	size_t count;
};

/* Splits text at commas outside of brackets, and removes blanks around them. */
void operand_words_split(struct operand_words *words, const char *text);
/* Inserts before the operand with that index. Does nothing if the index is above count, or there are OPERANDS_MAX
 * operands. */
void operand_words_insert(struct operand_words *words, size_t index, const char *text);
void operand_words_remove(struct operand_words *words, size_t index);
/* Writes the operands with the separator between them into instruction->operands. */
void operand_words_join(const struct operand_words *words, const char *separator, struct instruction *instruction);

struct x86_style {
	bool is_64; /* Code is x86-64, not i386. */
	bool is_intel; /* Uses Intel syntax instead of AT&T syntax. */
};

/* Convert the text of an instruction to the syntax that objdump has for the machine. from is capstone's result; to has
 * the address, size and kind already, and the text in capstone's syntax. */
void objdump_x86(csh handle, const cs_insn *from, struct tally_bytes bytes, const struct x86_style *style,
	struct instruction *to);
void objdump_arm64(csh handle, const cs_insn *from, struct instruction *to);

/* Decodes atomic operations of ARMv8.1, and ldapr, which this version of capstone does not know. Returns false for
 * other instructions. */
bool arm64_atomic_decode(uint32_t word, struct instruction *to);

/* Decodes instructions that this version of capstone does not know: AVX-512 and what came after AVX2 (x86-64),
 * protection keys, shadow stacks. Returns false for other instructions. */
bool x86_masked_decode(
	struct tally_bytes bytes, uint64_t address, const struct x86_style *style, struct instruction *to);

#endif
