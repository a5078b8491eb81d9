/*
 * instruction_line.h - an instruction as one line of objdump: mnemonic, operands, the name of what it refers to.
 *
 *	bool is_known = instruction_name(name, sizeof(name), store, id, instruction.target, &arena);
 *	instruction_line(text, sizeof(text), disassembler, &instruction, is_known ? name : NULL);
 */
#ifndef CLI_INSTRUCTION_LINE_H
#define CLI_INSTRUCTION_LINE_H

#include "code/binary_store.h"
#include "code/disasm/disassembler.h"

#define INSTRUCTION_LINE_BYTES 1024

/* What does not fit is cut; so for both. name NULL: none. */
void instruction_line(char *text, size_t text_bytes, const struct disassembler *disassembler,
	const struct instruction *instruction, const char *name);
/* "sink" or "main+0x31" as people read it; address as of binary_store_name_at. False: nothing is known there. */
bool instruction_name(
	char *text, size_t text_bytes, struct binary_store *store, uint32_t id, uint64_t address, struct arena *arena);

#endif
