/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_input.h - defines the input of an unwinder: registers, a slice of the stack, and the mappings. The owner of
 * the sample fills it; unwinding borrows it.
 *
 *	unwind_registers_set(&registers, arch, arch->sp, sp);
 */
#ifndef CODE_UNWIND_UNWIND_INPUT_H
#define CODE_UNWIND_UNWIND_INPUT_H

#include "code/unwind/unwind_table.h"

struct unwind_registers {
	uint64_t values[CFI_REGISTERS]; /* Values by DWARF register number. */
	uint64_t known; /* Bit mask of the valid values; without the stack pointer, nothing can be unwound. */
	uint64_t pc;
};

/* A slice of the thread's stack, from address upwards. */
struct unwind_stack {
	uint64_t address;
	struct tally_bytes bytes;
	bool swap; /* Words have the other byte order than this host. */
};

struct unwind_module {
	const struct unwind_table *table; /* NULL if code is mapped, but has no unwind table. */
	uint64_t low, high; /* Run-time range for which this result is valid. */
	uint64_t bias; /* Run-time address minus link-time address. */
};

struct unwind_modules {
	/* Finds the module at pc; returns false if no code is mapped there. */
	bool (*find)(void *context, uint64_t pc, struct unwind_module *module);
	void *context;
};

/* Sets a register by perf's number. Ignores registers that call-frame information does not use. */
static inline void unwind_registers_set(
	struct unwind_registers *registers, const struct arch *arch, uint32_t number, uint64_t value)
{
	uint8_t dwarf = arch_dwarf_register(arch, number);
	if (number == arch->ip)
		registers->pc = value;
	if (dwarf >= CFI_REGISTERS)
		return;
	registers->values[dwarf] = value;
	registers->known |= UINT64_C(1) << dwarf;
}

#endif
