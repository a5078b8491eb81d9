/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch.h - describes the CPU architectures of recordings in constant tables: registers by perf's numbers, byte order,
 * the start of kernel addresses, and the layout of frames. The recording determines the architecture, never the host.
 * Unwinding is in code/unwind, and the host's events are in kernel.
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
	const char *name; /* Machine name as in uname -m, in its usual spelling. */
	const char *const *machines; /* Glob patterns that match its names in uname -m, NULL-terminated. */
	uint16_t e_machine; /* e_machine of its ELF files. */
	uint8_t pointer_bytes;
	bool is_big_endian; /* Its usual byte order; a recording stores its own. */
	/*
	 * First address of the kernel's half of the address space. If the mode of a sample is unknown, addresses from
	 * here on are considered the kernel's.
	 */
	uint64_t kernel_start;
	/* Number of bytes to subtract from a return address to get an address inside the call. */
	uint8_t call_back_bytes;
	/* Names, indexed by bit number in sample_regs_user and sample_regs_intr; NULL if a bit is no register. */
	const char *const *registers;
	uint32_t register_count; /* Number of elements of registers. */
	uint32_t wide_from; /* Registers from this number on use two bits of the mask; ARCH_NO_REGISTER if none does. */
	uint64_t general_registers; /* Mask of the registers that every sample of user space can contain. */
	uint32_t ip, sp, fp; /* Numbers of the instruction pointer, stack pointer and frame pointer. */
	/* Register that contains the return address of a leaf function; ARCH_NO_REGISTER if it is on the stack. */
	uint32_t link;
	/* Offsets from the frame pointer at which the caller's frame pointer and the return address are stored. */
	int8_t frame_fp_offset, frame_return_offset;
	int8_t frame_bytes; /* Difference between the caller's stack pointer and the frame pointer, in bytes. */
	/* DWARF register numbers, indexed by perf's register number; ARCH_NO_DWARF if DWARF has none. */
	const uint8_t *dwarf_registers;
	uint8_t dwarf_count; /* Number of elements of dwarf_registers. */
	/* DWARF numbers of these registers; ARCH_NO_DWARF if there is no number or no such register. */
	uint8_t dwarf_ip, dwarf_sp, dwarf_fp, dwarf_link;
	const struct arch *compat; /* Architecture of 32-bit programs on such a machine; NULL if it has none. */
	/* Mask of the address bits of a return address; other bits may be a signature or select the instruction set. */
	uint64_t return_mask;
};

/* Returns the architecture of a machine name as in uname -m (HEADER_ARCH of a file); NULL if it is not supported. */
const struct arch *arch_find(const char *machine);
/*
 * Does what arch_find does, but also returns tables for machines of which only the kernel's addresses and the names of
 * registers are known (s390x, ppc64le, mips); all fields but these, the machine names and e_machine are 0. Their
 * samples can be printed, but their stack dumps cannot be unwound.
 */
const struct arch *arch_find_named(const char *machine);
/* Returns the architecture of an ELF file by its e_machine and class; NULL if it is not supported. */
const struct arch *arch_find_elf(uint16_t e_machine, uint8_t pointer_bytes);
/* Returns the name of a register by its perf number; NULL if there is no register with this number. */
const char *arch_register_name(const struct arch *arch, uint32_t number);
/* Returns the perf number of a register by its name, ignoring case; ARCH_NO_REGISTER if there is no such register. */
uint32_t arch_register_find(const struct arch *arch, const char *name);
/* Returns the bits of a register in a mask of registers; 0 if there is no register with this number. */
uint64_t arch_register_bits(const struct arch *arch, uint32_t number);
static inline bool arch_is_kernel_address(const struct arch *arch, uint64_t address)
{
	return address >= arch->kernel_start;
}
/* Returns the DWARF number of a register; ARCH_NO_DWARF if there is none. */
uint8_t arch_dwarf_register(const struct arch *arch, uint32_t number);
/* Returns the architecture at a position, counted from 0; NULL after the last one. For tests that check all tables. */
const struct arch *arch_at(size_t position);

extern const struct arch arch_x86_64;
extern const struct arch arch_i386;
extern const struct arch arch_aarch64;
extern const struct arch arch_arm;
extern const struct arch arch_riscv64;

#endif
