/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch.h - describes a CPU architecture as far as a recording of it requires: registers by perf's numbers, byte order,
 * where kernel addresses begin, how a frame links to its caller. Constant tables, one per architecture; chosen by the
 * recording, never by the host. Not here: how to unwind (code/unwind), what the host can count (kernel).
 *
 * To add one:
 *  1. src/arch/<name>.c with a constant struct arch; register names and numbers from the kernel's
 *     arch/<name>/include/uapi/asm/perf_regs.h, the e_machine from <elf.h>, DWARF's numbers from its psABI;
 *  2. an extern below, a row in the list of arch.c, the file in meson.build;
 *  3. a case in tests/unit/arch/arch.c (names of machine, the four special registers);
 *  4. run the tests on such a host once: there the numbers are compared with its <asm/perf_regs.h>.
 *
 *	const struct arch *arch = arch_find("aarch64");
 *	if (!arch) ...			// samples can still be shown, without registers
 *	const char *name = arch_register_name(arch, number);
 */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCH_NO_REGISTER UINT32_MAX
#define ARCH_NO_DWARF	 0xff

struct arch {
	const char *name; /* as uname -m has it, in its usual spelling */
	const char *const *machines; /* glob patterns that match its names in uname -m; NULL-terminated */
	uint16_t e_machine; /* of its ELF files */
	uint8_t pointer_bytes;
	bool is_big_endian; /* its usual order; a recording says its own */
	/* First address of the kernel's half. If the mode of a sample is unknown, addresses from here on are the
	 * kernel's. */
	uint64_t kernel_start;
	/* A return address is that of the instruction after the call. Subtract this to get an address inside the
	 * call. */
	uint8_t call_back_bytes;
	/* Names by bit number in sample_regs_user and sample_regs_intr; NULL if there is none. */
	const char *const *registers;
	uint32_t register_count;
	uint32_t wide_from; /* registers from this number on take two bits; ARCH_NO_REGISTER: none does */
	uint64_t general_registers; /* the bits of what every sample of user space can carry */
	uint32_t ip, sp, fp;
	uint32_t link; /* holds the return address of a leaf function; ARCH_NO_REGISTER: the stack does */
	/* Where, from the frame pointer's value, the caller's frame pointer and the return address are kept. */
	int8_t frame_fp_offset, frame_return_offset;
	int8_t frame_bytes; /* from the frame pointer's value to the caller's stack pointer */
	/* DWARF's number of a register by perf's, ARCH_NO_DWARF where call-frame information does not know it. */
	const uint8_t *dwarf_registers;
	uint8_t dwarf_count; /* of dwarf_registers */
	/* The same for these; ARCH_NO_DWARF: it has no number or there is no such register. */
	uint8_t dwarf_ip, dwarf_sp, dwarf_fp, dwarf_link;
	const struct arch *compat; /* what its 32-bit programs run on; NULL: there are none */
	uint64_t
		return_mask; /* the bits of a return address that are address: not its signature, not the kind of code */
};

/* By machine name of uname -m (HEADER_ARCH of a file); NULL if it is none of these. */
const struct arch *arch_find(const char *machine);
/* The same, and machines of which only the kernel's addresses and the names of registers are known (s390x, ppc64le, mips):
 *   all other fields are 0. They are for printing; their stack dumps cannot be unwound. */
const struct arch *arch_find_named(const char *machine);
/* By e_machine and class of an ELF file; NULL if it is none of these. */
const struct arch *arch_find_elf(uint16_t e_machine, uint8_t pointer_bytes);
/* NULL if it has no register of this number. */
const char *arch_register_name(const struct arch *arch, uint32_t number);
/* ARCH_NO_REGISTER if there is none of this name (any case). */
uint32_t arch_register_find(const struct arch *arch, const char *name);
/* The bits that stand for it in a mask of registers; 0 if it has none of this number. */
uint64_t arch_register_bits(const struct arch *arch, uint32_t number);
static inline bool arch_is_kernel_address(const struct arch *arch, uint64_t address)
{
	return address >= arch->kernel_start;
}
/* DWARF's number of a register; ARCH_NO_DWARF if call-frame information does not know it. */
uint8_t arch_dwarf_register(const struct arch *arch, uint32_t number);
/* All of them, for tests that hold every table to the same rules: position counts from 0; NULL behind the last. */
const struct arch *arch_at(size_t position);

extern const struct arch arch_x86_64;
extern const struct arch arch_i386;
extern const struct arch arch_aarch64;
extern const struct arch arch_arm;
extern const struct arch arch_riscv64;

#endif
