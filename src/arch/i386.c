#include "arch/arch.h"

#include <elf.h>

static const char *const registers[] = {
	"AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS", "CS", "SS", "DS", "ES", "FS", "GS"};

const struct arch arch_i386 = {
	.name = "i386",
	.machines = (const char *const[]){"i[3-6]86", "x86", NULL},
	.e_machine = EM_386,
	.pointer_bytes = 4,
	.kernel_start = 0xc0000000, /* the usual split of 3 GB to 1 GB */
	.call_back_bytes = 1,
	.registers = registers,
	.register_count = sizeof(registers) / sizeof(registers[0]),
	.wide_from = ARCH_NO_REGISTER,
	.general_registers = 0xffff,
	.ip = 8,
	.sp = 7,
	.fp = 6,
	.link = ARCH_NO_REGISTER,
	.frame_fp_offset = 0,
	.frame_return_offset = 4,
};
