/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>

#include "arch/arch.h"
#include "base/array.h"

static const char *const i386_registers[] = {
	"AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS", "CS", "SS", "DS", "ES", "FS", "GS"};

/* Indexed by perf's register number: ax bx cx dx si di bp sp ip. */
static const uint8_t i386_dwarf_registers[] = {0, 3, 1, 2, 6, 7, 5, 4, 8};

const struct arch arch_i386 = {
	.name = "i386",
	.machines = (const char *const[]){"i[3-6]86", "x86", NULL},
	.e_machine = EM_386,
	.pointer_bytes = 4,
	.kernel_start = 0xc0000000, /* The usual split is 3 GB to 1 GB. */
	.call_back_bytes = 1,
	.registers = i386_registers,
	.register_count = ARRAY_LEN(i386_registers),
	.wide_from = ARCH_NO_REGISTER,
	.general_registers = 0xffff,
	.ip = 8,
	.sp = 7,
	.fp = 6,
	.link = ARCH_NO_REGISTER,
	.frame_fp_offset = 0,
	.frame_return_offset = 4,
	.frame_bytes = 8,
	.dwarf_registers = i386_dwarf_registers,
	.dwarf_count = sizeof(i386_dwarf_registers),
	.dwarf_ip = 8,
	.dwarf_sp = 4,
	.dwarf_fp = 5,
	.dwarf_link = ARCH_NO_DWARF,
	.return_mask = UINT32_MAX,
};
