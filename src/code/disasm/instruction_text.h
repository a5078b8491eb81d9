/*
 * instruction_text.h - an instruction's operands as words, on their way from capstone's spelling to objdump's. For the
 * modules of this folder.
 *
 * A value; nothing is allocated. What does not fit is cut.
 */
#ifndef CODE_DISASM_INSTRUCTION_TEXT_H
#define CODE_DISASM_INSTRUCTION_TEXT_H

#include <capstone/capstone.h>

#include "code/disasm/instruction.h"

#define OPERANDS_MAX	   6
#define OPERAND_TEXT_BYTES 96

struct operand_words {
	char text[OPERANDS_MAX][OPERAND_TEXT_BYTES];
	size_t count;
};

/* Splits at commas outside brackets; blanks around them go. */
void operand_words_split(struct operand_words *words, const char *text);
void operand_words_insert(struct operand_words *words, size_t index, const char *text);
void operand_words_remove(struct operand_words *words, size_t index);
/* Into instruction->operands, with the separator between them. */
void operand_words_join(const struct operand_words *words, const char *separator, struct instruction *instruction);

/* Each knows the details of what capstone decoded, in its own machine's way. */
void objdump_x86(csh handle, const cs_insn *from, struct tally_bytes bytes, bool is_intel, struct instruction *to);
void objdump_arm64(csh handle, const cs_insn *from, struct instruction *to);

/* Atomic operations of ARMv8.1, and ldapr, which this capstone does not know. False: not one of them. */
bool arm64_atomic_decode(uint32_t word, struct instruction *to);

/* Instructions that this capstone does not know: masks and comparisons of AVX-512, protection keys; of x86-64.
 * False: not one of them. */
bool x86_masked_decode(struct tally_bytes bytes, uint64_t address, bool is_intel, struct instruction *to);

#endif
