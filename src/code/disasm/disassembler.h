/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disassembler.h - disassembles machine code one instruction at a time, in objdump's syntax. It is the only module that
 * uses capstone.
 *
 * The caller owns the disassembler and the bytes. Code of any supported machine can be disassembled on any host. One
 * thread per disassembler. Bad input: bytes that are not an instruction become "(bad)" (x86) or ".inst", with the
 * smallest instruction size of the machine, so that every call makes progress.
 *
 *	disassembler_create(&(struct disassembler_options){.elf_machine = EM_X86_64}, &d, err);
 *	while (bytes.len > 0) {
 *		disassembler_next(d, bytes, address, &instruction);  // instruction.size bytes were used
 *	}
 *	disassembler_destroy(d);
 */
#ifndef CODE_DISASM_DISASSEMBLER_H
#define CODE_DISASM_DISASSEMBLER_H

#include <tally/status.h>

#include "code/disasm/instruction.h"
#include "code/disasm/operation.h"

struct disassembler_options {
	unsigned elf_machine; /* EM_* value of the ELF header (e_machine). */
	bool is_big_endian;
	bool is_64; /* Set for 64-bit code; needed for RISC-V and PowerPC, where e_machine is the same for 32 bits. */
	bool is_intel; /* x86: uses Intel syntax instead of AT&T syntax. */
};

struct disassembler;

/* Creates a disassembler. UNSUPPORTED: the machine is not supported. */
TALLY_MUST_CHECK enum tally_status disassembler_create(
	const struct disassembler_options *options, struct disassembler **disassembler, struct tally_error *err);
void disassembler_destroy(struct disassembler *disassembler);
/* Disassembles the first instruction of bytes, which must not be empty. */
void disassembler_next(
	struct disassembler *disassembler, struct tally_bytes bytes, uint64_t address, struct instruction *instruction);
/* Decodes the first instruction of bytes, which must not be empty. Returns false if it is not a known instruction;
 * operation->size is then the number of bytes to skip. is_intel must be set for x86. */
bool disassembler_operation(
	struct disassembler *disassembler, struct tally_bytes bytes, uint64_t address, struct operation *operation);
/* Returns the width to which a mnemonic is padded; a blank or a tab follows. */
unsigned disassembler_mnemonic_width(const struct disassembler *disassembler);

#endif
