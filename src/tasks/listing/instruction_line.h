/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruction_line.h - formats an instruction as one line of objdump: mnemonic, operands, the symbol that it refers to.
 *
 *	const char *name = instruction_name(store, id, instruction.target, &arena);
 *	const char *text = instruction_line(disassembler, &instruction, name, &arena);
 */
#ifndef TASKS_LISTING_INSTRUCTION_LINE_H
#define TASKS_LISTING_INSTRUCTION_LINE_H

#include "code/binary_store.h"
#include "code/disasm/disassembler.h"

/* In the arena; NULL: out of memory. name NULL: none. */
const char *instruction_line(const struct disassembler *disassembler, const struct instruction *instruction,
	const char *name, struct arena *arena);
/* A readable name such as "sink" or "main+0x31"; address as for binary_store_name_at. In the arena; NULL: there is no
 * symbol, or memory ran out. */
const char *instruction_name(struct binary_store *store, uint32_t id, uint64_t address, struct arena *arena);

#endif
