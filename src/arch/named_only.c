/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/bytes.h"

/* From the kernel's arch/s390/include/uapi/asm/perf_regs.h: general registers, floating point, the PSW's two halves. */
static const char *const s390_registers[] = {"R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11",
	"R12", "R13", "R14", "R15", "FP0", "FP1", "FP2", "FP3", "FP4", "FP5", "FP6", "FP7", "FP8", "FP9", "FP10",
	"FP11", "FP12", "FP13", "FP14", "FP15", "MASK", "PC"};

/* From arch/powerpc: general registers, then special ones and those of the PMU. */
static const char *const ppc_registers[] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11",
	"r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27",
	"r28", "r29", "r30", "r31", "nip", "msr", "orig_r3", "ctr", "link", "xer", "ccr", "softe", "trap", "dar",
	"dsisr", "sier", "mmcra", "mmcr0", "mmcr1", "mmcr2", "mmcr3", "sier2", "sier3", "pmc1", "pmc2", "pmc3", "pmc4",
	"pmc5", "pmc6", "sdar", "siar"};

/* From arch/mips: registers 26 and 27 are reserved for the kernel. */
static const char *const mips_registers[] = {"PC", "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9", "$10", "$11",
	"$12", "$13", "$14", "$15", "$16", "$17", "$18", "$19", "$20", "$21", "$22", "$23", "$24", "$25", NULL, NULL,
	"$28", "$29", "$30", "$31"};

static const struct arch named_only[] = {
	{
		.name = "s390x",
		.machines = (const char *const[]){"s390*", NULL},
		.e_machine = EM_S390,
		/* The kernel has an address space of its own, so samples must say which one an address belongs to. */
		.kernel_start = UINT64_C(1) << 63,
		.registers = s390_registers,
		.wide_from = ARCH_NO_REGISTER,
		.register_count = ARRAY_LEN(s390_registers),
	},
	{
		.name = "ppc64le",
		.machines = (const char *const[]){"ppc*", NULL},
		.e_machine = EM_PPC64,
		.kernel_start = UINT64_C(0xc000000000000000),
		.registers = ppc_registers,
		.wide_from = ARCH_NO_REGISTER,
		.register_count = ARRAY_LEN(ppc_registers),
	},
	{
		.name = "mips64",
		.machines = (const char *const[]){"mips*", NULL},
		.e_machine = EM_MIPS,
		.kernel_start = UINT64_C(1) << 63,
		.registers = mips_registers,
		.wide_from = ARCH_NO_REGISTER,
		.register_count = ARRAY_LEN(mips_registers),
	},
};

const struct arch *arch_find_named(const char *machine)
{
	const struct arch *arch = arch_find(machine);
	for (size_t i = 0; !arch && i < ARRAY_LEN(named_only); i++)
		if (str_glob(str_from(named_only[i].machines[0]), str_from(machine)))
			arch = &named_only[i];
	return arch;
}
