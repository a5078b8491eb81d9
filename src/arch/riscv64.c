/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>

#include "arch/arch.h"
#include "base/array.h"

/* Number 0 is pc; the integer registers follow, by their names in the calling convention. */
static const char *const riscv64_registers[] = {"pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1",
	"a2", "a3", "a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
	"t5", "t6"};

/* Indexed by perf's register number. DWARF uses the same numbers, but has none for pc. */
static const uint8_t riscv64_dwarf_registers[] = {ARCH_NO_DWARF, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

const struct arch arch_riscv64 = {
	.name = "riscv64",
	.machines = (const char *const[]){"riscv64", NULL},
	.e_machine = EM_RISCV,
	.pointer_bytes = 8,
	.kernel_start = UINT64_C(0xff00000000000000), /* With five levels of page tables; higher with fewer. */
	.call_back_bytes = 2, /* Size of a compressed jump. */
	.registers = riscv64_registers,
	.register_count = ARRAY_LEN(riscv64_registers),
	.wide_from = ARCH_NO_REGISTER,
	.general_registers = 0xffffffff,
	.ip = 0,
	.sp = 2,
	.fp = 8,
	.link = 1,
	.frame_fp_offset = -16,
	.frame_return_offset = -8,
	.frame_bytes = 0,
	.dwarf_registers = riscv64_dwarf_registers,
	.dwarf_count = sizeof(riscv64_dwarf_registers),
	.dwarf_ip = ARCH_NO_DWARF,
	.dwarf_sp = 2,
	.dwarf_fp = 8,
	.dwarf_link = 1,
	.return_mask = UINT64_MAX,
};
