/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>

#include "arch/arch.h"
#include "base/array.h"

/* Each SSE register has two numbers, from 32 on. */
static const char *const x86_64_registers[] = {
	[0] = "AX",
	[1] = "BX",
	[2] = "CX",
	[3] = "DX",
	[4] = "SI",
	[5] = "DI",
	[6] = "BP",
	[7] = "SP",
	[8] = "IP",
	[9] = "FLAGS",
	[10] = "CS",
	[11] = "SS",
	[12] = "DS",
	[13] = "ES",
	[14] = "FS",
	[15] = "GS",
	[16] = "R8",
	[17] = "R9",
	[18] = "R10",
	[19] = "R11",
	[20] = "R12",
	[21] = "R13",
	[22] = "R14",
	[23] = "R15",
	[32] = "XMM0",
	[34] = "XMM1",
	[36] = "XMM2",
	[38] = "XMM3",
	[40] = "XMM4",
	[42] = "XMM5",
	[44] = "XMM6",
	[46] = "XMM7",
	[48] = "XMM8",
	[50] = "XMM9",
	[52] = "XMM10",
	[54] = "XMM11",
	[56] = "XMM12",
	[58] = "XMM13",
	[60] = "XMM14",
	[62] = "XMM15",
};

/* Indexed by perf's register number: ax bx cx dx si di bp sp ip, seven registers without a DWARF number (flags and
 * segments), and r8 to r15. */
static const uint8_t x86_64_dwarf_registers[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, ARCH_NO_DWARF, ARCH_NO_DWARF,
	ARCH_NO_DWARF, ARCH_NO_DWARF, ARCH_NO_DWARF, ARCH_NO_DWARF, ARCH_NO_DWARF, 8, 9, 10, 11, 12, 13, 14, 15};

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.machines = (const char *const[]){"x86_64", "x86-64", "amd64", NULL},
	.e_machine = EM_X86_64,
	.pointer_bytes = 8,
	/* With five levels of page tables; 0xffff800000000000 with four. */
	.kernel_start = UINT64_C(0xff00000000000000),
	.call_back_bytes = 1,
	.registers = x86_64_registers,
	.register_count = ARRAY_LEN(x86_64_registers),
	.wide_from = 32,
	/* The segment registers DS to GS are excluded, because the kernel rejects them. */
	.general_registers = 0xff0fff,
	.ip = 8,
	.sp = 7,
	.fp = 6,
	.link = ARCH_NO_REGISTER,
	.frame_fp_offset = 0,
	.frame_return_offset = 8,
	.frame_bytes = 16,
	.dwarf_registers = x86_64_dwarf_registers,
	.dwarf_count = sizeof(x86_64_dwarf_registers),
	.dwarf_ip = 16,
	.dwarf_sp = 7,
	.dwarf_fp = 6,
	.dwarf_link = ARCH_NO_DWARF,
	.compat = &arch_i386,
	.return_mask = UINT64_MAX,
};
