/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_input.h - defines the input of an unwinder: registers, a slice of the stack, and the mappings. The code that
 * has the sample fills it; unwinding borrows it.
 *
 *	unwind_registers_set(&registers, arch, arch->sp, sp);
 */
#ifndef CODE_UNWIND_UNWIND_INPUT_H
#define CODE_UNWIND_UNWIND_INPUT_H

#include "code/unwind/unwind_table.h"

struct unwind_registers {
	uint64_t values[CFI_REGISTERS]; /* by DWARF's number */
	uint64_t known; /* a bit for each; without the stack pointer nothing can be unwound */
	uint64_t pc;
};

struct unwind_stack { /* a slice of the thread's stack, upwards from address */
	uint64_t address;
	struct tally_bytes bytes;
	bool swap; /* words are in the other order than the host's */
};

struct unwind_module {
	const struct unwind_table *table; /* NULL: code is mapped, but nothing is known of its frames */
	uint64_t low, high; /* run-time: where this answer holds */
	uint64_t bias; /* run-time minus link-time */
};

struct unwind_modules {
	bool (*find)(void *context, uint64_t pc, struct unwind_module *module); /* false: no code is mapped there */
	void *context;
};

/* Sets the value of a register by perf's number. Ignores registers that call-frame information does not know. */
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
