/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_code.h - reads the machine code at addresses of samples, one instruction at a time, for `tally script`.
 *
 * The places and the store must outlive a script_code. Kernel code is cached by function. Not thread-safe.
 *
 *	script_code_find(&code, where, cpumode, ip, &spot);
 *	if (script_code_decode(&code, &spot, ip, &step)) ... step.bytes
 */
#ifndef VERBS_SCRIPT_SCRIPT_CODE_H
#define VERBS_SCRIPT_SCRIPT_CODE_H

#include "base/vec.h"
#include "code/disasm/disassembler.h"
#include "verbs/script/script_places.h"

struct script_code {
	struct script_places *places;
	struct binary_store *store;
	struct disassembler *disassembler; /* NULL if none has been opened, or machine is not supported. */
	/* The machine for which disassembler was opened; elf_machine is UINT_MAX at first. */
	struct disassembler_options machine;
	struct tally_error problem; /* First failure to open a disassembler; TALLY_OK if there was none. */
	struct map_u64 kernel_ranges; /* Maps the start of a function or page to an index in codes + 1. */
	VEC(struct binary_code) codes;
};

struct script_spot { /* A code address and the file that contains it. */
	uint32_t store_id; /* STORE_ENTRY_NONE if no code is known. */
	bool is_kernel;
	uint64_t ip;
	uint64_t address; /* ip as an address for binary_store_find. */
};

struct script_step { /* One instruction. */
	struct tally_bytes bytes;
	struct instruction instruction; /* The decoded instruction, with addresses of the process. */
	uint64_t moved; /* Process address minus file address. */
};

void script_code_init(struct script_code *code, struct script_places *places, struct binary_store *store);
void script_code_deinit(struct script_code *code);
/* Finds the file that contains ip, and fills spot. Returns false if out of memory. */
bool script_code_find(struct script_code *code, const struct resolve_where *where, unsigned cpumode, uint64_t ip,
	struct script_spot *spot);
/* Decodes the instruction at ip, which must be in the same mapping as spot->ip. Returns false if there is no code or no
 * valid instruction. */
bool script_code_decode(
	struct script_code *code, const struct script_spot *spot, uint64_t ip, struct script_step *step);

/* Copies up to len bytes of code from the spot on. Returns the number of copied bytes, which is less than len if the
 * code after them is not known. */
size_t script_code_read(struct script_code *code, const struct script_spot *spot, void *buffer, size_t len);
/* Prints bytes such as "48 89 e5 ". Returns the number of characters. */
size_t script_print_bytes(struct text *t, struct tally_bytes bytes);
/* Prints an instruction such as "call   401015 <work>". */
void script_print_instruction(
	struct script_code *code, struct text *t, const struct script_spot *spot, const struct script_step *step);
/* Prints the requested parts of " ilen: 3 insn: 48 89 e5" and "\t\tmov    %rsp,%rbp". Returns false if memory is
 * exhausted. */
bool script_print_code(struct script_code *code, struct text *t, const struct resolve_where *where, unsigned cpumode,
	uint64_t ip, uint64_t fields);

#endif
