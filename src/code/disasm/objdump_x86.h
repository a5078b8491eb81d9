/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objdump_x86.h - declares the steps that convert an x86 instruction from capstone's syntax to objdump's. Private to
 * this directory.
 */
#ifndef CODE_DISASM_OBJDUMP_X86_H
#define CODE_DISASM_OBJDUMP_X86_H

#include "code/disasm/instruction_text.h"

/* The text of an x86 instruction while it is converted from capstone's syntax to objdump's. */
struct spelling {
	csh handle;
	const cs_insn *insn;
	const cs_x86 *x86;
	struct tally_bytes bytes;
	bool is_intel, is_64;
	char prefixes[48]; /* Prefixes, such as "lock " or "data16 cs ". */
	char mnemonic[CS_MNEMONIC_SIZE];
	struct operand_words words;
};

/* Returns whether the word is in the list, which ends with NULL. */
bool spelling_is_one_of(const char *word, const char *const *list);
void spelling_add_prefix(struct spelling *s, const char *name);
/* Returns the operand of this type with index n among those of the type, from 0; NULL if there is none. */
const cs_x86_op *spelling_nth(const struct spelling *s, x86_op_type type, size_t n);

/* Replaces the size in "DWORD PTR [...]" by another one, or removes it if size is empty. */
void spelling_resize(char *text, const char *size);

/* Corrects what this version of capstone gets wrong or omits, by mnemonic or opcode. */
void spelling_correct_x87(struct spelling *s);
void spelling_correct_vectors(struct spelling *s);
void spelling_correct_ports(struct spelling *s);
void spelling_correct_widths(struct spelling *s);
void spelling_add_unused_prefixes(struct spelling *s);

#endif
