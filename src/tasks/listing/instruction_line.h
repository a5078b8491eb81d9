/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruction_line.h - formats an instruction in objdump's format: mnemonic, operands, and the symbol that it refers
 * to.
 *
 *	const char *name = instruction_name(store, id, instruction.target, &arena);
 *	const char *text = instruction_line(disassembler, &instruction, name, &arena);
 */
#ifndef TASKS_LISTING_INSTRUCTION_LINE_H
#define TASKS_LISTING_INSTRUCTION_LINE_H

#include "code/binary_store.h"
#include "code/disasm/disassembler.h"

/* Returns the line, allocated in the arena, or NULL if memory runs out. name is NULL if the instruction refers to no
 * symbol. */
const char *instruction_line(const struct disassembler *disassembler, const struct instruction *instruction,
	const char *name, struct arena *arena);
/* Returns a readable name such as "sink" or "main+0x31", allocated in the arena. address is in the same address space
 * as the addresses of struct binary_code. Returns NULL if there is no symbol, or if memory runs out. */
const char *instruction_name(struct binary_store *store, uint32_t id, uint64_t address, struct arena *arena);

#endif
