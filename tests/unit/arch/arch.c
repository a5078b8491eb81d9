/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/arch.h"

#include <elf.h>
#include <string.h>

#include "base/array.h"
#include "unit_test.h"

#if __has_include(<asm/perf_regs.h>)
#include <asm/perf_regs.h>
#endif

static void machines_are_found_by_name(void **state)
{
	static const struct {
		const char *machine;
		const struct arch *arch;
	} cases[] = {
		{"x86_64", &arch_x86_64},
		{"i386", &arch_i386},
		{"i686", &arch_i386},
		{"aarch64", &arch_aarch64},
		{"arm64", &arch_aarch64},
		{"aarch64_be", &arch_aarch64},
		{"arm", &arch_arm},
		{"armv7l", &arch_arm},
		{"armv6l", &arch_arm},
		{"riscv64", &arch_riscv64},
		{"i986", NULL},
		{"i686x", NULL},
		{"riscv32", NULL},
		{"s390x", NULL},
		{"", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (arch_find(cases[i].machine) != cases[i].arch)
			fail_msg("%s", cases[i].machine);
}

static void elf_machines_are_found(void **state)
{
	assert_ptr_equal(arch_find_elf(EM_X86_64, 8), &arch_x86_64);
	assert_ptr_equal(arch_find_elf(EM_386, 4), &arch_i386);
	assert_ptr_equal(arch_find_elf(EM_AARCH64, 8), &arch_aarch64);
	assert_ptr_equal(arch_find_elf(EM_ARM, 4), &arch_arm);
	assert_ptr_equal(arch_find_elf(EM_RISCV, 8), &arch_riscv64);
	assert_null(arch_find_elf(EM_RISCV, 4));
	assert_null(arch_find_elf(EM_X86_64, 4));
	assert_null(arch_find_elf(EM_NONE, 8));
}

static void check_register(const struct arch *arch, uint32_t number, const char *name)
{
	const char *is = arch_register_name(arch, number);
	if (!is || strcmp(is, name) != 0)
		fail_msg("%s: register %u is %s, not %s", arch->name, number, is ? is : "none", name);
	assert_int_equal(arch_register_find(arch, name), number);
}

static void registers_have_their_names(void **state)
{
	check_register(&arch_x86_64, arch_x86_64.ip, "IP");
	check_register(&arch_x86_64, arch_x86_64.sp, "SP");
	check_register(&arch_x86_64, arch_x86_64.fp, "BP");
	check_register(&arch_i386, arch_i386.ip, "IP");
	check_register(&arch_i386, arch_i386.sp, "SP");
	check_register(&arch_i386, arch_i386.fp, "BP");
	check_register(&arch_aarch64, arch_aarch64.ip, "pc");
	check_register(&arch_aarch64, arch_aarch64.sp, "sp");
	check_register(&arch_aarch64, arch_aarch64.fp, "x29");
	check_register(&arch_aarch64, arch_aarch64.link, "lr");
	check_register(&arch_arm, arch_arm.ip, "pc");
	check_register(&arch_arm, arch_arm.sp, "sp");
	check_register(&arch_arm, arch_arm.fp, "fp");
	check_register(&arch_arm, arch_arm.link, "lr");
	check_register(&arch_riscv64, arch_riscv64.ip, "pc");
	check_register(&arch_riscv64, arch_riscv64.sp, "sp");
	check_register(&arch_riscv64, arch_riscv64.fp, "s0");
	check_register(&arch_riscv64, arch_riscv64.link, "ra");
	check_register(&arch_riscv64, 31, "t6");
	assert_int_equal(arch_register_find(&arch_x86_64, "r15"), 23);
	assert_int_equal(arch_register_find(&arch_x86_64, "x0"), ARCH_NO_REGISTER);
	assert_null(arch_register_name(&arch_x86_64, 24));
	assert_null(arch_register_name(&arch_x86_64, 63));
	assert_null(arch_register_name(&arch_x86_64, 64));
	assert_null(arch_register_name(&arch_x86_64, ARCH_NO_REGISTER));
	assert_null(arch_register_name(&arch_i386, 16));
	assert_int_equal(arch_register_bits(&arch_x86_64, 23), UINT64_C(1) << 23);
	assert_int_equal(arch_register_bits(&arch_x86_64, 62), UINT64_C(3) << 62);
	assert_int_equal(arch_register_bits(&arch_x86_64, 33), 0);
	assert_int_equal(arch_register_bits(&arch_riscv64, 31), UINT64_C(1) << 31);
	assert_int_equal(arch_register_bits(&arch_x86_64, ARCH_NO_REGISTER), 0);
}

static void registers_of_machines_without_unwinding(void **state)
{
	static const struct {
		const char *machine;
		uint32_t number;
		const char *name;
	} cases[] = {
		{"s390x", 0, "R0"},
		{"s390x", 16, "FP0"},
		{"s390x", 33, "PC"},
		{"ppc64le", 32, "nip"},
		{"ppc64", 58, "siar"},
		{"ppc", 1, "r1"},
		{"mips64", 0, "PC"},
		{"mips", 31, "$31"},
		{"x86_64", 8, "IP"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct arch *arch = arch_find_named(cases[i].machine);
		assert_non_null(arch);
		assert_string_equal(arch_register_name(arch, cases[i].number), cases[i].name);
	}
	assert_null(arch_register_name(arch_find_named("s390x"), 34));
	assert_null(arch_register_name(arch_find_named("mips64"), 26));
	assert_true(arch_register_bits(arch_find_named("mips64"), 25) == UINT64_C(1) << 25);
	assert_true(arch_find_named("s390x")->wide_from == ARCH_NO_REGISTER);
	assert_null(arch_find_named("csky"));
	assert_null(arch_find_elf(EM_S390, 0));
}

/* Register numbers are bits of a 64-bit mask, names are unique, and the special registers exist. */
static void every_table_is_whole(void **state)
{
	size_t count = 0;
	for (const struct arch *arch; (arch = arch_at(count)); count++) {
		assert_true(arch->register_count <= 64);
		assert_ptr_equal(arch_find(arch->name), arch);
		assert_ptr_equal(arch_find_elf(arch->e_machine, arch->pointer_bytes), arch);
		assert_non_null(arch_register_name(arch, arch->ip));
		assert_non_null(arch_register_name(arch, arch->sp));
		assert_non_null(arch_register_name(arch, arch->fp));
		assert_true(arch->link == ARCH_NO_REGISTER || arch_register_name(arch, arch->link));
		for (uint32_t i = 0; i < arch->register_count; i++)
			if (arch->registers[i])
				check_register(arch, i, arch->registers[i]);
		int apart = arch->frame_return_offset - arch->frame_fp_offset;
		assert_int_equal(apart, arch->pointer_bytes);
		assert_in_range(arch->call_back_bytes, 1, 4);
		for (uint32_t i = 0; i < 64; i++)
			if (arch->general_registers >> i & 1)
				assert_non_null(arch_register_name(arch, i));
		uint64_t needed = arch_register_bits(arch, arch->ip) | arch_register_bits(arch, arch->sp);
		assert_int_equal(arch->general_registers & needed, needed);
	}
	assert_int_equal(count, 5);
}

static void kernel_and_user_addresses(void **state)
{
	assert_true(arch_is_kernel_address(&arch_x86_64, UINT64_C(0xffffffff81000000)));
	assert_true(arch_is_kernel_address(&arch_x86_64, UINT64_C(0xffff888000000000)));
	assert_false(arch_is_kernel_address(&arch_x86_64, UINT64_C(0x7fffffffffff)));
	assert_true(arch_is_kernel_address(&arch_aarch64, UINT64_C(0xffff800008000000)));
	assert_false(arch_is_kernel_address(&arch_aarch64, UINT64_C(0x0000aaaaaaaaa000)));
	assert_true(arch_is_kernel_address(&arch_i386, 0xc1000000));
	assert_false(arch_is_kernel_address(&arch_i386, 0xbfffffff));
	assert_true(arch_is_kernel_address(&arch_arm, 0xbf000000));
	assert_true(arch_is_kernel_address(&arch_riscv64, UINT64_C(0xffffffff80000000)));
}

#if __has_include(<asm/perf_regs.h>)
static void numbers_are_those_of_the_host(void **state)
{
#if defined(__x86_64__) || defined(__i386__)
#define HOST(register) .name = #register, .number = PERF_REG_X86_##register
	static const struct {
		const char *name;
		uint32_t number;
	} host[] = {{HOST(AX)}, {HOST(BX)}, {HOST(CX)}, {HOST(DX)}, {HOST(SI)}, {HOST(DI)}, {HOST(BP)}, {HOST(SP)},
		{HOST(IP)}, {HOST(FLAGS)}, {HOST(CS)}, {HOST(SS)}, {HOST(DS)}, {HOST(ES)}, {HOST(FS)}, {HOST(GS)},
		{HOST(R8)}, {HOST(R9)}, {HOST(R10)}, {HOST(R11)}, {HOST(R12)}, {HOST(R13)}, {HOST(R14)}, {HOST(R15)},
		{HOST(XMM0)}, {HOST(XMM1)}, {HOST(XMM2)}, {HOST(XMM3)}, {HOST(XMM4)}, {HOST(XMM5)}, {HOST(XMM6)},
		{HOST(XMM7)}, {HOST(XMM8)}, {HOST(XMM9)}, {HOST(XMM10)}, {HOST(XMM11)}, {HOST(XMM12)}, {HOST(XMM13)},
		{HOST(XMM14)}, {HOST(XMM15)}};
	const struct arch *arch = &arch_x86_64;
	for (uint32_t i = 0; i < 16; i++)
		check_register(&arch_i386, host[i].number, host[i].name);
	assert_int_equal(arch_i386.register_count, PERF_REG_X86_32_MAX);
	assert_int_equal(arch_x86_64.register_count, PERF_REG_X86_XMM_MAX - 1);
#elif defined(__aarch64__)
	static const struct {
		const char *name;
		uint32_t number;
	} host[] = {{"x0", PERF_REG_ARM64_X0}, {"x1", PERF_REG_ARM64_X1}, {"x15", PERF_REG_ARM64_X15},
		{"x28", PERF_REG_ARM64_X28}, {"x29", PERF_REG_ARM64_X29}, {"lr", PERF_REG_ARM64_LR},
		{"sp", PERF_REG_ARM64_SP}, {"pc", PERF_REG_ARM64_PC}};
	const struct arch *arch = &arch_aarch64;
#elif defined(__arm__)
	static const struct {
		const char *name;
		uint32_t number;
	} host[] = {{"r0", PERF_REG_ARM_R0}, {"r10", PERF_REG_ARM_R10}, {"fp", PERF_REG_ARM_FP},
		{"ip", PERF_REG_ARM_IP}, {"sp", PERF_REG_ARM_SP}, {"lr", PERF_REG_ARM_LR}, {"pc", PERF_REG_ARM_PC}};
	const struct arch *arch = &arch_arm;
#elif defined(__riscv)
	static const struct {
		const char *name;
		uint32_t number;
	} host[] = {{"pc", PERF_REG_RISCV_PC}, {"ra", PERF_REG_RISCV_RA}, {"sp", PERF_REG_RISCV_SP},
		{"t0", PERF_REG_RISCV_T0}, {"s0", PERF_REG_RISCV_S0}, {"a7", PERF_REG_RISCV_A7},
		{"s11", PERF_REG_RISCV_S11}, {"t6", PERF_REG_RISCV_T6}};
	const struct arch *arch = &arch_riscv64;
#else
#error "a row for this architecture is missing"
#endif
	for (size_t i = 0; i < ARRAY_LEN(host); i++)
		check_register(arch, host[i].number, host[i].name);
}
#else
static void numbers_are_those_of_the_host(void **state)
{
	skip_because("no <asm/perf_regs.h>");
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_are_found_by_name),
		cmocka_unit_test(elf_machines_are_found),
		cmocka_unit_test(registers_have_their_names),
		cmocka_unit_test(every_table_is_whole),
		cmocka_unit_test(registers_of_machines_without_unwinding),
		cmocka_unit_test(kernel_and_user_addresses),
		cmocka_unit_test(numbers_are_those_of_the_host),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
