/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_code.h - reads the machine code at addresses of samples, one instruction at a time, for `tally script`.
 *
 * Borrows places and store, which outlive it. Kernel code that is read from memory is kept, function by function. One
 * thread.
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
	struct disassembler *disassembler; /* NULL: none yet, or none for this machine */
	struct disassembler_options machine; /* that it is of; UINT_MAX: none yet */
	struct tally_error problem; /* why code could not be disassembled at first; status TALLY_OK: it could */
	struct map_u64 kernel_ranges; /* the start of a function or page to its index in codes, from 1 on */
	VEC(struct binary_code) codes;
};

struct script_spot { /* a place in code: the mapping at an address, and the code around it */
	uint32_t store_id; /* STORE_ENTRY_NONE: no code is known */
	bool is_kernel;
	uint64_t ip;
	uint64_t address; /* of ip, as of binary_store_find */
};

struct script_step { /* one instruction */
	struct tally_bytes bytes;
	struct instruction instruction; /* as it ran: addresses are those of the process */
	uint64_t moved; /* from the file's own addresses to those */
};

void script_code_init(struct script_code *code, struct script_places *places, struct binary_store *store);
void script_code_deinit(struct script_code *code);
/* False: out of memory. */
bool script_code_find(struct script_code *code, const struct resolve_where *where, unsigned cpumode, uint64_t ip,
	struct script_spot *spot);
/* ip: of the same mapping as the spot's. False: there is no code, or no instruction that is known. */
bool script_code_decode(
	struct script_code *code, const struct script_spot *spot, uint64_t ip, struct script_step *step);

/* The bytes from the spot on, as far as they are known; how many. */
size_t script_code_read(struct script_code *code, const struct script_spot *spot, void *buffer, size_t len);
/* Prints "48 89 e5 "; returns the width. */
size_t script_print_bytes(struct text *t, struct tally_bytes bytes);
/* "call   401015 <work>". */
void script_print_instruction(
	struct script_code *code, struct text *t, const struct script_spot *spot, const struct script_step *step);
/* " ilen: 3 insn: 48 89 e5", "\t\tmov    %rsp,%rbp": the parts that fields request. False: out of memory. */
bool script_print_code(struct script_code *code, struct text *t, const struct resolve_where *where, unsigned cpumode,
	uint64_t ip, uint64_t fields);

#endif
