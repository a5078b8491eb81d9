/* SPDX-License-Identifier: Apache-2.0 */
/* Tests files that refer to one long list many times: reading it completely each time would take hours. */
#include "object/dwarf/dwarf_budget.h"

#include "base/writer.h"
#include "object/dwarf/dwarf_file.h"
#include "object/dwarf/dwarf_functions.h"
#include "object/dwarf/dwarf_lines.h"
#include "object/dwarf/dwarf_numbers.h"
#include "unit_test.h"

#define MANY  50000
#define COUNT 50000

struct sections {
	struct writer bytes[DWARF_SECTIONS];
	struct tally_bytes views[DWARF_SECTIONS];
	struct dwarf_file *file;
};

static void open_file(struct sections *s)
{
	for (int i = 0; i < DWARF_SECTIONS; i++)
		s->views[i] = writer_view(&s->bytes[i]);
	assert_int_equal(dwarf_file_open_sections(s->views, false, &s->file, NULL), TALLY_OK);
}

static void deinit(struct sections *s)
{
	dwarf_file_close(s->file);
	for (int i = 0; i < DWARF_SECTIONS; i++)
		writer_deinit(&s->bytes[i]);
}

static void put_uleb(struct writer *w, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		writer_u8(w, (uint8_t)(value | 0x80));
	writer_u8(w, (uint8_t)value);
}

/* Writes the header of a DWARF 4 unit with length bytes of entries. */
static void put_unit(struct writer *info, size_t length)
{
	writer_u32(info, (uint32_t)(length + 7));
	writer_u16(info, 4);
	writer_u32(info, 0);
	writer_u8(info, 8);
}

/* attrs has pairs of name and form. */
static void put_abbrev(struct writer *abbrev, uint64_t code, uint32_t tag, const uint32_t *attrs, size_t count)
{
	put_uleb(abbrev, code);
	put_uleb(abbrev, tag);
	writer_u8(abbrev, code == 1);
	for (size_t i = 0; i < 2 * count; i++)
		put_uleb(abbrev, attrs[i]);
	writer_u16(abbrev, 0);
}

static void many_functions_of_one_long_list(void **state)
{
	struct sections s = {0};
	static const uint32_t ranges[] = {DW_AT_ranges, DW_FORM_sec_offset};
	put_abbrev(&s.bytes[DWARF_ABBREV], 1, DW_TAG_compile_unit, NULL, 0);
	put_abbrev(&s.bytes[DWARF_ABBREV], 2, DW_TAG_subprogram, ranges, 1);
	writer_u8(&s.bytes[DWARF_ABBREV], 0);
	put_unit(&s.bytes[DWARF_INFO], 1 + 5 * MANY);
	writer_u8(&s.bytes[DWARF_INFO], 1);
	for (int i = 0; i < MANY; i++) {
		writer_u8(&s.bytes[DWARF_INFO], 2);
		writer_u32(&s.bytes[DWARF_INFO], 0);
	}
	for (uint64_t i = 0; i < COUNT; i++) {
		writer_u64(&s.bytes[DWARF_RANGES], 0x1000 + 2 * i);
		writer_u64(&s.bytes[DWARF_RANGES], 0x1001 + 2 * i);
	}
	open_file(&s);
	struct dwarf_reader reader;
	struct dwarf_functions functions;
	dwarf_reader_init(&reader);
	assert_int_equal(dwarf_functions_read(&functions, &reader, s.file, &s.file->units.items[0], NULL), TALLY_OK);
	assert_true(functions.is_damaged);
	/* The first functions have all their ranges. */
	assert_true(functions.ranges.len > COUNT);
	size_t all = s.bytes[DWARF_RANGES].len + s.bytes[DWARF_INFO].len;
	assert_true(functions.ranges.len < 2 * all); /* Ranges are sorted, so more would take seconds for each MB. */
	assert_int_not_equal(dwarf_functions_find(&functions, 0x1000), DWARF_NO_FUNCTION);
	dwarf_functions_deinit(&functions);
	dwarf_reader_deinit(&reader);
	deinit(&s);
}

static void many_units_of_one_long_table(void **state)
{
	struct sections s = {0};
	static const uint32_t name[] = {DW_AT_low_pc, DW_FORM_addr};
	for (uint64_t code = COUNT; code > 0; code--) /* Units use the last abbreviation. */
		put_abbrev(&s.bytes[DWARF_ABBREV], code, DW_TAG_compile_unit, name, 1);
	writer_u8(&s.bytes[DWARF_ABBREV], 0);
	for (int i = 0; i < MANY; i++) {
		put_unit(&s.bytes[DWARF_INFO], 9);
		writer_u8(&s.bytes[DWARF_INFO], 1);
		writer_u64(&s.bytes[DWARF_INFO], 0x1000);
	}
	open_file(&s);
	assert_true(s.file->units.len > 10 && s.file->units.len < MANY);
	assert_int_equal(s.file->units.len + s.file->damaged, MANY);
	deinit(&s);
}

static void many_units_of_one_long_name(void **state)
{
	struct sections s = {0};
	static const uint32_t name[] = {DW_AT_name, DW_FORM_strp};
	put_abbrev(&s.bytes[DWARF_ABBREV], 1, DW_TAG_compile_unit, name, 1);
	writer_u8(&s.bytes[DWARF_ABBREV], 0);
	for (int i = 0; i < MANY; i++) {
		put_unit(&s.bytes[DWARF_INFO], 5);
		writer_u8(&s.bytes[DWARF_INFO], 1);
		writer_u32(&s.bytes[DWARF_INFO], 0);
	}
	for (int i = 0; i < 8 * MANY; i++)
		writer_u64(&s.bytes[DWARF_STR], 0x6161616161616161);
	open_file(&s);
	assert_int_equal(s.file->units.len, MANY);
	assert_int_equal(s.file->units.items[0].name.len, s.bytes[DWARF_STR].len);
	assert_int_equal(s.file->units.items[MANY - 1].name.len, 0);
	deinit(&s);
}

static void many_flags_on_many_entries(void **state)
{
	struct sections s = {0};
	put_abbrev(&s.bytes[DWARF_ABBREV], 1, DW_TAG_compile_unit, NULL, 0);
	put_uleb(&s.bytes[DWARF_ABBREV], 2);
	put_uleb(&s.bytes[DWARF_ABBREV], DW_TAG_subprogram);
	writer_u8(&s.bytes[DWARF_ABBREV], 0);
	for (int i = 0; i < COUNT; i++) {
		put_uleb(&s.bytes[DWARF_ABBREV], DW_AT_low_pc);
		put_uleb(&s.bytes[DWARF_ABBREV], DW_FORM_flag_present);
	}
	writer_u16(&s.bytes[DWARF_ABBREV], 0);
	writer_u8(&s.bytes[DWARF_ABBREV], 0);
	put_unit(&s.bytes[DWARF_INFO], 1 + MANY);
	writer_u8(&s.bytes[DWARF_INFO], 1);
	for (int i = 0; i < MANY; i++)
		writer_u8(&s.bytes[DWARF_INFO], 2);
	open_file(&s);
	struct dwarf_reader reader;
	struct dwarf_functions functions;
	dwarf_reader_init(&reader);
	assert_int_equal(dwarf_functions_read(&functions, &reader, s.file, &s.file->units.items[0], NULL), TALLY_OK);
	assert_true(functions.is_damaged);
	dwarf_functions_deinit(&functions);
	dwarf_reader_deinit(&reader);
	deinit(&s);
}

static void put_line_program(struct writer *w)
{
	static const uint8_t rest[] = {1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0};
	writer_u32(w, (uint32_t)(2 + 4 + sizeof(rest) + COUNT));
	writer_u16(w, 4);
	writer_u32(w, sizeof(rest));
	writer_bytes(w, rest, sizeof(rest));
	for (int i = 0; i < COUNT; i++)
		writer_u8(w, 0x4b);
}

static void one_line_program_again_and_again(void **state)
{
	struct sections s = {0};
	static const uint32_t lines[] = {DW_AT_stmt_list, DW_FORM_sec_offset};
	put_abbrev(&s.bytes[DWARF_ABBREV], 1, DW_TAG_compile_unit, lines, 1);
	writer_u8(&s.bytes[DWARF_ABBREV], 0);
	put_unit(&s.bytes[DWARF_INFO], 5);
	writer_u8(&s.bytes[DWARF_INFO], 1);
	writer_u32(&s.bytes[DWARF_INFO], 0);
	put_line_program(&s.bytes[DWARF_LINE]);
	open_file(&s);
	struct dwarf_reader reader;
	dwarf_reader_init(&reader);
	unsigned read = 0;
	for (bool is_read = true; is_read && read < 1000; read++) {
		struct dwarf_lines found;
		assert_int_equal(dwarf_lines_read(&found, &reader, s.file, &s.file->units.items[0], NULL), TALLY_OK);
		is_read = found.files.len > 0 && dwarf_spend(s.file, 1);
		dwarf_lines_deinit(&found);
		is_read = is_read && dwarf_spend(s.file, DWARF_COST_LINE_BYTE * COUNT);
	}
	assert_true(read > 2 && read < 100);
	dwarf_reader_deinit(&reader);
	deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_functions_of_one_long_list),
		cmocka_unit_test(many_units_of_one_long_table),
		cmocka_unit_test(many_units_of_one_long_name),
		cmocka_unit_test(many_flags_on_many_entries),
		cmocka_unit_test(one_line_program_again_and_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
