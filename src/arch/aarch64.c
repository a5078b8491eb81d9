/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>

#include "arch/arch.h"
#include "base/array.h"

static const char *const aarch64_registers[] = {
	[0] = "x0",
	[1] = "x1",
	[2] = "x2",
	[3] = "x3",
	[4] = "x4",
	[5] = "x5",
	[6] = "x6",
	[7] = "x7",
	[8] = "x8",
	[9] = "x9",
	[10] = "x10",
	[11] = "x11",
	[12] = "x12",
	[13] = "x13",
	[14] = "x14",
	[15] = "x15",
	[16] = "x16",
	[17] = "x17",
	[18] = "x18",
	[19] = "x19",
	[20] = "x20",
	[21] = "x21",
	[22] = "x22",
	[23] = "x23",
	[24] = "x24",
	[25] = "x25",
	[26] = "x26",
	[27] = "x27",
	[28] = "x28",
	[29] = "x29",
	[30] = "lr",
	[31] = "sp",
	[32] = "pc",
	[46] = "vg", /* Granule of scalable vectors; the kernel uses the numbers before it internally. */
};

/* Indexed by perf's register number. DWARF uses the same numbers. */
static const uint8_t aarch64_dwarf_registers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
	20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

const struct arch arch_aarch64 = {
	.name = "aarch64",
	.machines = (const char *const[]){"aarch64", "aarch64_be", "arm64", NULL},
	.e_machine = EM_AARCH64,
	.pointer_bytes = 8,
	/* Lower bound for 39 to 52 address bits; user addresses are below it unless they are tagged. */
	.kernel_start = UINT64_C(0xff00000000000000),
	.call_back_bytes = 4,
	.registers = aarch64_registers,
	.register_count = ARRAY_LEN(aarch64_registers),
	.wide_from = ARCH_NO_REGISTER,
	.general_registers = (UINT64_C(1) << 33) - 1,
	.ip = 32,
	.sp = 31,
	.fp = 29,
	.link = 30,
	.frame_fp_offset = 0,
	.frame_return_offset = 8,
	.frame_bytes = 16,
	.dwarf_registers = aarch64_dwarf_registers,
	.dwarf_count = sizeof(aarch64_dwarf_registers),
	.dwarf_ip = 32,
	.dwarf_sp = 31,
	.dwarf_fp = 29,
	.dwarf_link = 30,
	.compat = &arch_arm,
	.return_mask = (UINT64_C(1) << 48) - 1, /* The bits above contain the pointer authentication code. */
};
