/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>

#include "arch/arch.h"
#include "base/array.h"

static const char *const arm_registers[] = {
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc"};

/* Indexed by perf's register number. DWARF uses the same numbers. */
static const uint8_t arm_dwarf_registers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

const struct arch arch_arm = {
	.name = "arm",
	.machines = (const char *const[]){"arm", "armv*", NULL},
	.e_machine = EM_ARM,
	.pointer_bytes = 4,
	.kernel_start = 0xbf000000, /* The usual split is 3 GB to 1 GB, with modules just below the kernel. */
	.call_back_bytes = 2, /* Thumb's shortest call has 2 bytes, and 2 bytes back is still inside a 4-byte call. */
	.registers = arm_registers,
	.register_count = ARRAY_LEN(arm_registers),
	.wide_from = ARCH_NO_REGISTER,
	.general_registers = 0xffff,
	.ip = 15,
	.sp = 13,
	.fp = 11,
	.link = 14,
	.frame_fp_offset = -4,
	.frame_return_offset = 0,
	.frame_bytes = 4,
	.dwarf_registers = arm_dwarf_registers,
	.dwarf_count = sizeof(arm_dwarf_registers),
	.dwarf_ip = 15,
	.dwarf_sp = 13,
	.dwarf_fp = 11,
	.dwarf_link = 14,
	.return_mask = 0xfffffffe, /* The lowest bit marks Thumb code. */
};
