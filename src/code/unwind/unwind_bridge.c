/* SPDX-License-Identifier: Apache-2.0 */
#include "code/unwind/unwind_bridge.h"

#include "base/limits.h"

/* A call leaves its return address in the link register, or on top of the stack, from which it is popped. */
static bool take_return_address(struct run *run, uint64_t *pc)
{
	struct unwind_registers *registers = &run->registers;
	const struct arch *arch = run->arch;
	if (arch->dwarf_link != ARCH_NO_DWARF) {
		*pc = registers->values[arch->dwarf_link] & arch->return_mask;
		return is_known(registers, arch->dwarf_link);
	}
	if (read_word(run, registers->values[run->sp], pc) != STEP_ON)
		return false;
	registers->values[run->sp] += arch->pointer_bytes;
	return true;
}

enum step unwind_bridge_from_nowhere(struct run *run)
{
	uint64_t pc;
	if (!take_return_address(run, &pc))
		return STEP_BROKEN;
	run->registers.pc = pc;
	run->is_exact = false;
	run->bridged++;
	return STEP_ON;
}

enum step unwind_bridge_leaf(struct run *run)
{
	uint64_t pc;
	if (!take_return_address(run, &pc))
		return STEP_NO_CFI;
	uint64_t call = pc - run->arch->call_back_bytes;
	const struct unwind_module *module = unwind_run_module(run, call);
	if (!module || !unwind_run_rule(run, module, call))
		return STEP_NO_CFI;
	run->registers.pc = pc;
	run->is_exact = false;
	run->bridged++;
	return STEP_ON;
}

/* The kernel starts a program with a stack that holds the number of arguments, then their addresses, which increase and
 * are above the stack pointer, and then 0. The loader's first function, which has no call-frame information, leaves the
 * stack pointer there. */
static bool is_start_of_process(const struct run *run)
{
	uint64_t word = run->arch->pointer_bytes;
	uint64_t at = run->registers.values[run->sp];
	uint64_t count;
	uint64_t before = at;
	if (read_word(run, at, &count) != STEP_ON || count == 0 || count > run->stack->bytes.len / word)
		return false;
	for (uint64_t i = 1; i <= count; i++) {
		uint64_t argument;
		if (read_word(run, at + i * word, &argument) != STEP_ON || argument <= before ||
			argument - at > LIMIT_STACK_BYTES)
			return false;
		before = argument;
	}
	uint64_t last;
	return read_word(run, at + (count + 1) * word, &last) == STEP_ON && last == 0;
}

enum step unwind_bridge_frame_pointer(struct run *run)
{
	const struct arch *arch = run->arch;
	struct unwind_registers *registers = &run->registers;
	uint64_t fp = registers->values[arch->dwarf_fp];
	uint64_t next_fp;
	uint64_t pc;
	if (is_start_of_process(run))
		return STEP_ROOT;
	if (!is_known(registers, arch->dwarf_fp))
		return STEP_NO_CFI;
	/* By convention, the first function has frame pointer 0; in code without frame pointers, it may be 0 by
	 * chance. */
	if (fp == 0 && !run->is_first && (run->is_chained || run->module->table))
		return STEP_ROOT;
	uint64_t sp = registers->values[arch->dwarf_sp];
	if (!is_aligned(run, fp) || fp + (uint64_t)arch->frame_bytes <= sp ||
		read_word(run, fp + (uint64_t)arch->frame_fp_offset, &next_fp) != STEP_ON ||
		read_word(run, fp + (uint64_t)arch->frame_return_offset, &pc) != STEP_ON)
		return STEP_NO_CFI;
	pc &= arch->return_mask;
	if (pc == 0)
		return STEP_ROOT;
	/* A caller with call-frame information may keep anything in that register; any other must continue the chain of
	 * frame pointers. */
	uint64_t call = pc - arch->call_back_bytes;
	const struct unwind_module *module = unwind_run_module(run, call);
	bool goes_on = next_fp == 0 || next_fp > fp;
	if (!module || (!goes_on && !unwind_run_rule(run, module, call)))
		return STEP_NO_CFI;
	registers->known = 0;
	set_register(registers, arch->dwarf_fp, next_fp);
	set_register(registers, arch->dwarf_sp, to_address(run, fp + (uint64_t)arch->frame_bytes));
	registers->pc = pc;
	run->is_exact = false;
	run->is_chained = true;
	run->bridged++;
	return STEP_ON;
}
