/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the location lists of variables in each version, and the classification of their expressions. */
#include "object/dwarf/dwarf_location.h"

#include "base/writer.h"
#include "object/dwarf/dwarf_numbers.h"
#include "object/frame_numbers.h"
#include "unit_test.h"

static struct dwarf_file file;
static struct dwarf_unit unit;

static void set_version(uint16_t version)
{
	file = (struct dwarf_file){.swap = false};
	unit = (struct dwarf_unit){.version = version, .address_size = 8, .offset_size = 4, .base = 0x1000};
}

struct entry {
	uint64_t low, high;
	uint8_t op;
};

static void expect(
	const struct writer *w, const struct dwarf_location *location, const struct entry *wanted, size_t count)
{
	struct dwarf_location_lists lists = {.loc = {w->data, w->len}, .loclists = {w->data, w->len}};
	struct dwarf_location_list list;
	struct tally_bytes expression;
	uint64_t low, high;
	dwarf_location_begin(&list, &lists, &file, &unit, location);
	for (size_t i = 0; i < count; i++) {
		assert_true(dwarf_location_next(&list, &low, &high, &expression));
		assert_int_equal(low, wanted[i].low);
		assert_int_equal(high, wanted[i].high);
		assert_int_equal(expression.len, 1);
		assert_int_equal(expression.data[0], wanted[i].op);
	}
	assert_false(dwarf_location_next(&list, &low, &high, &expression));
	assert_false(dwarf_location_next(&list, &low, &high, &expression));
}

static void put_pair(struct writer *w, uint64_t low, uint64_t high)
{
	writer_u64(w, low);
	writer_u64(w, high);
}

static void put_old_expression(struct writer *w, uint8_t op)
{
	writer_u16(w, 1);
	writer_u8(w, op);
}

static void test_pairs(void **state)
{
	struct writer w = {0};
	(void)state;
	set_version(4);
	writer_u8(&w, 0xff); /* A byte before the list. */
	put_pair(&w, 0x10, 0x20);
	put_old_expression(&w, DW_OP_reg3);
	put_pair(&w, UINT64_MAX, 0x5000); /* A new base address. */
	put_pair(&w, 0x30, 0x40);
	put_old_expression(&w, DW_OP_reg4);
	put_pair(&w, 0, 0);
	const struct entry wanted[] = {{0x1010, 0x1020, DW_OP_reg3}, {0x5030, 0x5040, DW_OP_reg4}};
	expect(&w, &(struct dwarf_location){.kind = DWARF_LOCATION_LIST, .list = 1}, wanted, 2);
	writer_deinit(&w);
}

static void put_entry(struct writer *w, uint8_t kind, uint8_t first, uint8_t second, uint8_t op)
{
	writer_u8(w, kind);
	writer_u8(w, first);
	writer_u8(w, second);
	writer_u8(w, 1);
	writer_u8(w, op);
}

static void put_list(struct writer *w)
{
	put_entry(w, DW_LLE_offset_pair, 0x10, 0x20, DW_OP_reg1);
	writer_u8(w, DW_LLE_base_address);
	writer_u64(w, 0x6000);
	put_entry(w, DW_LLE_offset_pair, 1, 2, DW_OP_reg2);
	writer_u8(w, DW_LLE_start_length);
	writer_u64(w, 0x7000);
	writer_u8(w, 0x30);
	writer_u8(w, 1);
	writer_u8(w, DW_OP_reg5);
	writer_u8(w, DW_LLE_start_end);
	put_pair(w, 0x8000, 0x8008);
	writer_u8(w, 1);
	writer_u8(w, DW_OP_reg6);
	writer_u8(w, DW_LLE_end_of_list);
}

static const struct entry list_entries[] = {{0x1010, 0x1020, DW_OP_reg1}, {0x6001, 0x6002, DW_OP_reg2},
	{0x7000, 0x7030, DW_OP_reg5}, {0x8000, 0x8008, DW_OP_reg6}};

static void test_lists_of_version_5(void **state)
{
	struct writer w = {0};
	(void)state;
	set_version(5);
	put_list(&w);
	expect(&w, &(struct dwarf_location){.kind = DWARF_LOCATION_LIST}, list_entries, 4);
	writer_deinit(&w);
}

static void test_indexed_list(void **state)
{
	struct writer w = {0};
	(void)state;
	set_version(5);
	unit.loclists_base = 4;
	writer_u32(&w, 0);
	writer_u32(&w, 99); /* Offset of the list of index 0. */
	writer_u32(&w, 8); /* Offset of the list of index 1, from the base. */
	put_list(&w);
	expect(&w, &(struct dwarf_location){.kind = DWARF_LOCATION_INDEX, .list = 1}, list_entries, 4);
	expect(&w, &(struct dwarf_location){.kind = DWARF_LOCATION_INDEX, .list = 1000}, NULL, 0);
	writer_deinit(&w);
}

static void test_addresses_by_index(void **state)
{
	struct writer w = {0}, addresses = {0};
	(void)state;
	set_version(5);
	put_pair(&addresses, 0x9000, 0x9100);
	file.sections[DWARF_ADDR] = (struct tally_bytes){addresses.data, addresses.len};
	put_entry(&w, DW_LLE_startx_endx, 0, 1, DW_OP_reg1);
	put_entry(&w, DW_LLE_startx_length, 1, 8, DW_OP_reg2);
	writer_u8(&w, DW_LLE_base_addressx);
	writer_u8(&w, 1);
	put_entry(&w, DW_LLE_offset_pair, 2, 4, DW_OP_reg3);
	put_entry(&w, DW_LLE_startx_length, 100, 8, DW_OP_reg4); /* There is no address with this index. */
	writer_u8(&w, 77); /* An unknown kind ends the list. */
	const struct entry wanted[] = {{0x9000, 0x9100, DW_OP_reg1}, {0x9100, 0x9108, DW_OP_reg2},
		{0x9102, 0x9104, DW_OP_reg3}, {0, 8, DW_OP_reg4}};
	expect(&w, &(struct dwarf_location){.kind = DWARF_LOCATION_LIST}, wanted, 4);
	writer_deinit(&w);
	writer_deinit(&addresses);
}

static void test_plain_location_covers_all(void **state)
{
	static const uint8_t op[] = {DW_OP_reg7};
	const struct dwarf_location location = {.kind = DWARF_LOCATION_EXPRESSION, .expression = {op, 1}};
	struct writer w = {0};
	(void)state;
	set_version(5);
	expect(&w, &location, &(struct entry){0, UINT64_MAX, DW_OP_reg7}, 1);
	expect(&w, &(struct dwarf_location){.kind = DWARF_LOCATION_NONE}, NULL, 0);
}

/* Complete entries before the truncation are returned, and nothing past it is read. */
static void test_cut_lists_end(void **state)
{
	struct writer w = {0};
	(void)state;
	put_list(&w);
	for (unsigned version = 4; version <= 5; version++)
		for (size_t len = 0; len < w.len; len++) {
			struct dwarf_location_lists lists = {.loc = {w.data, len}, .loclists = {w.data, len}};
			struct dwarf_location_list list;
			struct tally_bytes expression;
			uint64_t low, high;
			size_t count = 0;
			set_version((uint16_t)version);
			dwarf_location_begin(
				&list, &lists, &file, &unit, &(struct dwarf_location){.kind = DWARF_LOCATION_LIST});
			while (dwarf_location_next(&list, &low, &high, &expression))
				count++;
			assert_true(count < 4 || len + 1 == w.len);
		}
	writer_deinit(&w);
}

static struct dwarf_storage storage_of(const uint8_t *bytes, size_t len)
{
	set_version(5);
	return dwarf_storage_of((struct tally_bytes){bytes, len}, &file, &unit);
}

static void test_storage(void **state)
{
	static const uint8_t in_register[] = {DW_OP_reg5}, at_register[] = {DW_OP_breg7, 0x78},
			     sum[] = {DW_OP_breg3, 8, DW_OP_stack_value}, frame[] = {DW_OP_fbreg, 0x60},
			     address[] = {DW_OP_addr, 0x10, 0x20, 0, 0, 0, 0, 0, 0}, cfa[] = {DW_OP_call_frame_cfa},
			     constant[] = {DW_OP_lit0, DW_OP_stack_value}, piece[] = {DW_OP_reg5, DW_OP_piece, 4},
			     cut[] = {DW_OP_addr, 0x10};
	(void)state;
	assert_int_equal(storage_of(in_register, 1).kind, DWARF_STORAGE_REGISTER);
	assert_int_equal(storage_of(in_register, 1).reg, 5);
	struct dwarf_storage storage = storage_of(at_register, 2);
	assert_int_equal(storage.kind, DWARF_STORAGE_AT_REGISTER);
	assert_int_equal(storage.reg, 7);
	assert_int_equal(storage.offset, -8);
	storage = storage_of(sum, 3);
	assert_int_equal(storage.kind, DWARF_STORAGE_SUM);
	assert_int_equal(storage.offset, 8);
	storage = storage_of(frame, 2);
	assert_int_equal(storage.kind, DWARF_STORAGE_AT_FRAME_BASE);
	assert_int_equal(storage.offset, -32);
	storage = storage_of(address, 9);
	assert_int_equal(storage.kind, DWARF_STORAGE_AT_ADDRESS);
	assert_int_equal(storage.address, 0x2010);
	assert_int_equal(storage_of(cfa, 1).kind, DWARF_STORAGE_CFA);
	assert_int_equal(storage_of(constant, 2).kind, DWARF_STORAGE_UNKNOWN);
	assert_int_equal(storage_of(piece, 3).kind, DWARF_STORAGE_UNKNOWN);
	assert_int_equal(storage_of(cut, 2).kind, DWARF_STORAGE_UNKNOWN);
	assert_int_equal(storage_of(cut, 0).kind, DWARF_STORAGE_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_lists_of_version_5),
		cmocka_unit_test(test_indexed_list),
		cmocka_unit_test(test_addresses_by_index),
		cmocka_unit_test(test_plain_location_covers_all),
		cmocka_unit_test(test_cut_lists_end),
		cmocka_unit_test(test_storage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
