/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/sdt_arguments.h"

#include <string.h>

#include "base/array.h"
#include "unit_test.h"

static bool find_symbol(void *context, struct tally_str name, uint64_t *address)
{
	*address = 0x4020;
	return str_equal(name, STR("counter")) || str_equal(name, STR("ns.var_1"));
}

struct sdt_arguments_case {
	const char *arguments, *expected; /* The text after "arg1=" if there is only one argument, otherwise all. */
	const char *why; /* Part of the reason for an omitted argument; NULL if none is omitted. */
};

static void check_cases(const struct arch *arch, const struct sdt_arguments_case *cases, size_t count)
{
	struct sdt_arguments_place place = {
		.arch = arch, .address = 0x11c7, .offset = 0x1c7, .find_symbol = find_symbol};
	for (size_t i = 0; i < count; i++) {
		struct text out = {0};
		struct sdt_arguments_left left;
		sdt_arguments_write(&place, cases[i].arguments, &out, &left);
		text_char(&out, '\0');
		assert_string_equal(out.data, cases[i].expected);
		assert_int_equal(left.count > 0, cases[i].why != NULL);
		if (cases[i].why && !strstr(left.why, cases[i].why))
			fail_msg("'%s' is not in: %s", cases[i].why, left.why);
		text_deinit(&out);
	}
}

static void x86_operands(void **state)
{
	static const struct sdt_arguments_case cases[] = {
		{"", "", NULL},
		{"-4@%edi 8@%rsi", " arg1=%di:s32 arg2=%si:u64", NULL},
		{"1@%al -2@%bx 4@%r8d -1@%r15b 2@%r10w",
			" arg1=%ax:u8 arg2=%bx:s16 arg3=%r8:u32 arg4=%r15:s8 arg5=%r10:u16", NULL},
		{"1@%sil 1@%dl 1@%bpl 8@%rsp", " arg1=%si:u8 arg2=%dx:u8 arg3=%bp:u8 arg4=%sp:u64", NULL},
		{"-4@-20(%rbp) 8@(%rax) 8@16(%r12)", " arg1=-20(%bp):s32 arg2=+0(%ax):u64 arg3=+16(%r12):u64", NULL},
		{"-4@$-3 8@$0x10 4@$017", " arg1=\\-3:s32 arg2=\\16:u64 arg3=\\15:u32", NULL},
		/* Variables: the kernel adds the offset to the load address of the probe's file, minus the offset of
		 * the probe. */
		{"4@counter(%rip) 8@8+counter(%rip) 8@counter-4(%rip)",
			" arg1=@+0x3020:u32 arg2=@+0x3028:u64 arg3=@+0x301c:u64", NULL},
		{"8@ns.var_1", " arg1=@+0x3020:u64", NULL},
		{"%ax (%rdx)", " arg1=%ax arg2=+0(%dx)", NULL}, /* Without a size, the default of the kernel is used. */
		/* Arguments that the kernel cannot fetch are omitted; the others keep their numbers. */
		{"8@(%rax,%rdx,8) -4@%ecx", " arg2=%cx:s32",
			"arg1 is 8@(%rax,%rdx,8): the kernel adds no scaled index"},
		{"8f@%xmm0 4@%eax", " arg2=%ax:u32", "floating-point"},
		{"1@%ah", "", "does not read this register"},
		{"8@%xmm3", "", "does not read this register"},
		{"8@%fs:16", "", "thread-local"},
		{"8@x@tpoff(%rax)", "", "thread-local"},
		{"8@missing(%rip)", "", "no symbol of this name"},
		{"8@counter(%rax)", "", "adds no address to a register"},
		{"8@$counter", "", "run time"},
		{"3@%eax", "", "size"},
		{"16@%rax", "", "size"},
		{"4@", "", "no operand"},
		{"@ @@ 4@( 4@) 4@-( 4@% 4@$ -@x 4@8(", "", "arg1 is @"},
	};
	check_cases(&arch_x86_64, cases, ARRAY_LEN(cases));
}

static void other_machines(void **state)
{
	static const struct sdt_arguments_case i386[] = {
		{"-4@%eax 4@8(%ebp) -4@$1", " arg1=%ax:s32 arg2=+8(%bp):u32 arg3=\\1:s32", NULL},
	};
	static const struct sdt_arguments_case arm64[] = {
		{"8@x0 -4@w19 4@wsp", " arg1=%x0:u64 arg2=%x19:s32 arg3=%sp:u32", NULL},
		{"-4@[sp, 12] 8@[x29] 8@[x1, #-8]", " arg1=+12(%sp):s32 arg2=+0(%x29):u64 arg3=-8(%x1):u64", NULL},
		{"8@17 -4@-1 8@x30", " arg1=\\17:u64 arg2=\\-1:s32 arg3=%x30:u64", NULL},
		{"8@[x1, x2, lsl 3]", "", "adds no index"},
		{"8@d0", "", "does not read"},
	};
	static const struct sdt_arguments_case riscv[] = {
		{"8@a0 -4@-20(s0) 8@17", " arg1=%a0:u64 arg2=-20(%s0):s32 arg3=\\17:u64", NULL},
		{"8@fa0", "", "does not read"},
	};
	static const struct sdt_arguments_case none[] = {{"4@r1", "", "not known"}};
	check_cases(&arch_i386, i386, ARRAY_LEN(i386));
	check_cases(&arch_aarch64, arm64, ARRAY_LEN(arm64));
	check_cases(&arch_riscv64, riscv, ARRAY_LEN(riscv));
	check_cases(&arch_arm, none, 1);
	check_cases(NULL, none, 1);
}

static void long_lists_end(void **state)
{
	struct sdt_arguments_place place = {.arch = &arch_x86_64};
	struct sdt_arguments_left left;
	struct text many = {0}, out = {0};
	for (int i = 0; i < 200; i++)
		text_str(&many, "4@%eax ");
	text_char(&many, '\0');
	sdt_arguments_write(&place, many.data, &out, &left);
	text_char(&out, '\0');
	assert_non_null(strstr(out.data, " arg128=%ax:u32"));
	assert_null(strstr(out.data, " arg129="));
	assert_int_equal(left.count, 72);
	text_deinit(&out);
	text_deinit(&many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_operands),
		cmocka_unit_test(other_machines),
		cmocka_unit_test(long_lists_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
