/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the operations of DWARF expressions, with addresses of 64 and 32 bits. */
#include "object/dwarf/expression.h"

#include <string.h>

#include "base/array.h"
#include "object/frame_numbers.h"
#include "unit_test.h"

/* Register N holds N * 100; each word of memory holds its own address. */
static bool expression_register(void *context, uint64_t number, uint64_t *value)
{
	*value = number * 100;
	return number < 40;
}

static bool expression_memory(void *context, uint64_t address, unsigned size, uint64_t *value)
{
	*value = size == 8 ? address : address & ((UINT64_C(1) << 8 * size) - 1);
	return address != 0;
}

static bool run_sized(uint8_t address_size, bool swap, struct tally_bytes bytes, uint64_t *value)
{
	const struct dwarf_machine machine = {.read_register = expression_register,
		.read_memory = expression_memory,
		.cfa = 0x7000,
		.has_cfa = true,
		.swap = swap,
		.address_size = address_size};
	return dwarf_expression_run(bytes, &machine, NULL, value);
}

#define BYTES(...) ((struct tally_bytes){(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})})

static void gives(struct tally_bytes bytes, uint64_t wanted_64, uint64_t wanted_32)
{
	uint64_t value;
	assert_true(run_sized(8, false, bytes, &value));
	assert_int_equal(value, wanted_64);
	assert_true(run_sized(4, false, bytes, &value));
	assert_int_equal(value, wanted_32);
}

static void gives_number(struct tally_bytes bytes, int64_t wanted)
{
	gives(bytes, (uint64_t)wanted, (uint32_t)wanted);
}

static void is_refused(struct tally_bytes bytes)
{
	uint64_t value;
	assert_false(run_sized(8, false, bytes, &value));
	assert_false(run_sized(4, false, bytes, &value));
}

#define MINUS(n)  DW_OP_const1s, (uint8_t)(-(n))
#define NUMBER(n) DW_OP_const1u, (n)

static void constants(void **state)
{
	uint64_t value;
	gives_number(BYTES(DW_OP_lit0), 0);
	gives_number(BYTES(DW_OP_lit31), 31);
	gives_number(BYTES(NUMBER(200)), 200);
	gives_number(BYTES(MINUS(3)), -3);
	gives_number(BYTES(DW_OP_const2u, 0xfe, 0xff), 0xfffe);
	gives_number(BYTES(DW_OP_const2s, 0xfe, 0xff), -2);
	gives_number(BYTES(DW_OP_const4u, 0xfe, 0xff, 0xff, 0x7f), 0x7ffffffe);
	gives_number(BYTES(DW_OP_const4s, 0xfe, 0xff, 0xff, 0xff), -2);
	gives(BYTES(DW_OP_const8u, 1, 2, 3, 4, 5, 6, 7, 8), 0x0807060504030201, 0x04030201);
	gives_number(BYTES(DW_OP_constu, 0x80, 0x01), 128);
	gives_number(BYTES(DW_OP_consts, 0x7f), -1);
	assert_true(run_sized(8, true, BYTES(DW_OP_const2u, 1, 2), &value));
	assert_int_equal(value, 0x0102);
	assert_true(run_sized(4, false, BYTES(DW_OP_addr, 1, 2, 3, 4), &value));
	assert_int_equal(value, 0x04030201);
	assert_true(run_sized(8, false, BYTES(DW_OP_addr, 1, 2, 3, 4, 5, 6, 7, 8), &value));
	assert_int_equal(value, 0x0807060504030201);
}

static void the_stack(void **state)
{
	gives_number(BYTES(DW_OP_lit7, DW_OP_dup, DW_OP_plus), 14);
	gives_number(BYTES(DW_OP_lit7, DW_OP_lit1, DW_OP_drop), 7);
	gives_number(BYTES(DW_OP_lit7, (DW_OP_lit0 + 2), DW_OP_over, DW_OP_minus), 2 - 7);
	gives_number(BYTES(DW_OP_lit7, (DW_OP_lit0 + 2), DW_OP_lit1, DW_OP_pick, 2), 7);
	gives_number(BYTES(DW_OP_lit7, (DW_OP_lit0 + 2), DW_OP_swap, DW_OP_minus), 2 - 7);
	/* 1 2 3 becomes 3 1 2 */
	gives_number(BYTES(DW_OP_lit1, (DW_OP_lit0 + 2), DW_OP_lit3, DW_OP_rot), 2);
	gives_number(BYTES(DW_OP_lit1, (DW_OP_lit0 + 2), DW_OP_lit3, DW_OP_rot, DW_OP_drop), 1);
	gives_number(BYTES(DW_OP_lit1, (DW_OP_lit0 + 2), DW_OP_lit3, DW_OP_rot, DW_OP_drop, DW_OP_drop), 3);
	gives_number(BYTES(DW_OP_lit7, DW_OP_nop), 7);
	is_refused(BYTES(DW_OP_nop));
	is_refused(BYTES(DW_OP_drop, DW_OP_lit1));
	is_refused(BYTES(DW_OP_lit1, DW_OP_over));
	is_refused(BYTES(DW_OP_lit1, DW_OP_swap));
	is_refused(BYTES(DW_OP_lit1, DW_OP_lit1, DW_OP_rot));
	is_refused(BYTES(DW_OP_lit1, DW_OP_pick, 1));
	uint8_t many[65];
	memset(many, DW_OP_lit1, sizeof(many));
	is_refused((struct tally_bytes){many, sizeof(many)});
	gives_number((struct tally_bytes){many, 64}, 1);
}

static void registers_and_memory(void **state)
{
	gives_number(BYTES(DW_OP_breg0 + 7, 8), 708);
	gives_number(BYTES(DW_OP_breg0 + 7, 0x78), 692);
	gives_number(BYTES(DW_OP_bregx, 33, 1), 3301);
	is_refused(BYTES(DW_OP_bregx, 41, 0));
	gives_number(BYTES(NUMBER(200), DW_OP_deref), 200);
	gives_number(BYTES(DW_OP_const2u, 0x34, 0x12, DW_OP_deref_size, 1), 0x34);
	is_refused(BYTES(DW_OP_lit0, DW_OP_deref));
	is_refused(BYTES(DW_OP_lit1, DW_OP_deref_size, 3));
	is_refused(BYTES(DW_OP_lit1, DW_OP_deref_size, 16));
	gives_number(BYTES(DW_OP_call_frame_cfa), 0x7000);
}

static void one_number(void **state)
{
	gives_number(BYTES(MINUS(5), DW_OP_abs), 5);
	gives_number(BYTES(NUMBER(5), DW_OP_abs), 5);
	gives_number(BYTES(NUMBER(5), DW_OP_neg), -5);
	gives_number(BYTES(NUMBER(5), DW_OP_not), ~5);
	gives_number(BYTES(NUMBER(5), DW_OP_plus_uconst, 0x80, 0x01), 133);
	is_refused(BYTES(DW_OP_abs));
}

static void two_numbers(void **state)
{
	gives_number(BYTES(NUMBER(12), NUMBER(10), DW_OP_and), 8);
	gives_number(BYTES(NUMBER(12), NUMBER(10), DW_OP_or), 14);
	gives_number(BYTES(NUMBER(12), NUMBER(10), DW_OP_xor), 6);
	gives_number(BYTES(NUMBER(12), NUMBER(10), DW_OP_minus), 2);
	gives_number(BYTES(MINUS(12), NUMBER(10), DW_OP_mul), -120);
	gives_number(BYTES(MINUS(12), NUMBER(5), DW_OP_div), -2);
	gives_number(BYTES(MINUS(12), MINUS(5), DW_OP_div), 2);
	gives_number(BYTES(NUMBER(12), NUMBER(5), DW_OP_mod), 2);
	is_refused(BYTES(NUMBER(12), DW_OP_lit0, DW_OP_div));
	is_refused(BYTES(NUMBER(12), DW_OP_lit0, DW_OP_mod));
	gives(BYTES(DW_OP_const8u, 0, 0, 0, 0, 0, 0, 0, 0x80, MINUS(1), DW_OP_div), UINT64_C(1) << 63, 0);
	gives(BYTES(DW_OP_const4u, 0, 0, 0, 0x80, MINUS(1), DW_OP_div), (uint64_t) - (INT64_C(1) << 31), 0x80000000);
	gives_number(BYTES(NUMBER(3), NUMBER(4), DW_OP_shl), 48);
	gives_number(BYTES(NUMBER(3), NUMBER(64), DW_OP_shl), 0);
	gives_number(BYTES(NUMBER(48), NUMBER(4), DW_OP_shr), 3);
	gives_number(BYTES(NUMBER(48), NUMBER(64), DW_OP_shr), 0);
	gives(BYTES(MINUS(8), NUMBER(1), DW_OP_shr), UINT64_MAX / 2 - 3, UINT32_MAX / 2 - 3);
	gives_number(BYTES(MINUS(8), NUMBER(1), DW_OP_shra), -4);
	gives_number(BYTES(MINUS(8), NUMBER(40), DW_OP_shra), -1);
	gives_number(BYTES(MINUS(8), NUMBER(70), DW_OP_shra), -1);
	is_refused(BYTES(DW_OP_lit1, DW_OP_plus));
}

static void comparisons(void **state)
{
	static const struct {
		uint8_t op;
		bool below, same, above; /* Results of comparing -1 with 1, 1 with 1, and 1 with -1. */
	} rows[] = {{DW_OP_eq, false, true, false}, {DW_OP_ne, true, false, true}, {DW_OP_lt, true, false, false},
		{DW_OP_le, true, true, false}, {DW_OP_gt, false, false, true}, {DW_OP_ge, false, true, true}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		gives_number(BYTES(MINUS(1), DW_OP_lit1, rows[i].op), rows[i].below);
		gives_number(BYTES(DW_OP_lit1, DW_OP_lit1, rows[i].op), rows[i].same);
		gives_number(BYTES(DW_OP_lit1, MINUS(1), rows[i].op), rows[i].above);
	}
}

static void jumps(void **state)
{
	gives_number(BYTES(DW_OP_lit1, DW_OP_skip, 1, 0, (DW_OP_lit0 + 2), DW_OP_nop), 1);
	gives_number(BYTES(DW_OP_lit1, DW_OP_lit0, DW_OP_bra, 1, 0, (DW_OP_lit0 + 2)), 2);
	gives_number(BYTES(DW_OP_lit1, DW_OP_lit1, DW_OP_bra, 1, 0, (DW_OP_lit0 + 2)), 1);
	is_refused(BYTES(DW_OP_lit1, DW_OP_skip, 1, 0));
	is_refused(BYTES(DW_OP_lit1, DW_OP_skip, 0x00, 0x80));
	is_refused(BYTES(DW_OP_skip, 0xfd, 0xff)); /* An endless loop. */
}

static void what_is_none(void **state)
{
	uint64_t value;
	is_refused(BYTES(0xff));
	is_refused(BYTES(DW_OP_const4u, 1, 2));
	assert_false(run_sized(8, false, (struct tally_bytes){NULL, 0}, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants),
		cmocka_unit_test(the_stack),
		cmocka_unit_test(registers_and_memory),
		cmocka_unit_test(one_number),
		cmocka_unit_test(two_numbers),
		cmocka_unit_test(comparisons),
		cmocka_unit_test(jumps),
		cmocka_unit_test(what_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
