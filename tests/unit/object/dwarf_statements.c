/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the statements of line tables made by hand, and the declarations and entries of functions in units made by
 * hand. */
#include <string.h>

#include "base/array.h"
#include "base/writer.h"
#include "dwarf_builder.h"
#include "object/dwarf/dwarf_declaration.h"
#include "object/dwarf/dwarf_file.h"
#include "object/dwarf/dwarf_functions.h"
#include "object/dwarf/dwarf_lines.h"
#include "object/dwarf/dwarf_numbers.h"
#include "unit_test.h"

/* Writes a table of version 4: one file, line_base 0, line_range 10, opcode_base 13, minimum_instruction_length 1. */
static void make_table(struct writer *w, const uint8_t *program, size_t length, bool begins_with_statement)
{
	static const uint8_t operands[12] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	writer_u32(w, 0);
	writer_u16(w, 4);
	size_t header = w->len;
	writer_u32(w, 0);
	writer_u8(w, 1); /* minimum_instruction_length */
	writer_u8(w, 1); /* maximum_operations_per_instruction */
	writer_u8(w, begins_with_statement);
	writer_u8(w, 0);
	writer_u8(w, 10);
	writer_u8(w, 13);
	writer_bytes(w, operands, sizeof(operands));
	writer_u8(w, 0); /* No include directories. */
	writer_bytes(w, "a.c\0\0\0\0", 7);
	writer_u8(w, 0);
	writer_patch_u32(w, header, (uint32_t)(w->len - header - 4));
	writer_bytes(w, program, length);
	writer_patch_u32(w, 0, (uint32_t)(w->len - 4));
	assert_false(w->failed);
}

static void read_table(struct dwarf_lines *lines, const uint8_t *program, size_t length, bool begins_with_statement)
{
	struct writer w = {.swap = false};
	make_table(&w, program, length, begins_with_statement);
	struct dwarf_file file = {.swap = false};
	struct dwarf_unit unit = {.version = 4, .address_size = 8, .offset_size = 4, .has_lines = true};
	struct dwarf_reader reader;
	unit.name = STR("a.c");
	unit.comp_dir = STR("/src");
	file.sections[DWARF_LINE] = writer_view(&w);
	dwarf_reader_init(&reader);
	assert_int_equal(dwarf_lines_read_statements(lines, &reader, &file, &unit, NULL), TALLY_OK);
	dwarf_reader_deinit(&reader);
	writer_deinit(&w);
}

#define SET_ADDRESS(a)	  0, 9, DW_LNE_set_address, (a)&0xff, (a) >> 8, 0, 0, 0, 0, 0, 0
#define ROW(bytes, lines) (uint8_t)(13 + 10 * (bytes) + (lines))
#define END		  0, 1, DW_LNE_end_sequence

static void assert_statement(const struct dwarf_lines *lines, size_t index, uint64_t address, uint32_t line)
{
	assert_true(index < lines->statements.len);
	assert_int_equal(lines->statements.items[index].address, address);
	assert_int_equal(lines->statements.items[index].line, line);
}

static void test_statements(void **state)
{
	(void)state;
	/* The second sequence has lower addresses. Rows that are not statements, and repeated rows, are omitted; rows
	 * of one address keep the order of the table. */
	static const uint8_t program[] = {SET_ADDRESS(0x2000), ROW(0, 9), DW_LNS_negate_stmt, ROW(4, 1),
		DW_LNS_negate_stmt, ROW(4, 1), ROW(0, 0), ROW(0, 2), DW_LNS_set_prologue_end, ROW(0, 0),
		DW_LNS_advance_pc, 4, END, SET_ADDRESS(0x1000), ROW(0, 3), ROW(2, 0), DW_LNS_advance_pc, 4, END};
	struct dwarf_lines lines;
	read_table(&lines, program, sizeof(program), true);
	assert_false(lines.is_damaged);
	assert_int_equal(lines.statements.len, 6);
	assert_statement(&lines, 0, 0x1000, 4);
	assert_statement(&lines, 1, 0x1002, 4);
	assert_statement(&lines, 2, 0x2000, 10);
	assert_statement(&lines, 3, 0x2008, 12);
	assert_statement(&lines, 4, 0x2008, 14);
	assert_statement(&lines, 5, 0x2008, 14);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(lines.statements.items[i].ends_prologue, i == 5);
	/* Look-ups do not depend on statements: the last row of an address is found. */
	assert_int_equal(dwarf_lines_find(&lines, 0x2004)->line, 11);
	assert_int_equal(dwarf_lines_find(&lines, 0x2008)->line, 14);
	dwarf_lines_deinit(&lines);
}

/* default_is_stmt is 0 in the header, and every sequence begins with it. */
static void test_default(void **state)
{
	(void)state;
	static const uint8_t program[] = {SET_ADDRESS(0x1000), ROW(0, 1), DW_LNS_negate_stmt, ROW(4, 1),
		DW_LNS_advance_pc, 4, END, SET_ADDRESS(0x3000), ROW(0, 5), DW_LNS_advance_pc, 4, END};
	struct dwarf_lines lines;
	read_table(&lines, program, sizeof(program), false);
	assert_int_equal(lines.statements.len, 1);
	assert_statement(&lines, 0, 0x1004, 3);
	assert_int_equal(lines.rows.len, 5);
	dwarf_lines_deinit(&lines);
}

/* Code that the linker dropped, and sequences out of order or truncated, have no statements. */
static void test_dropped(void **state)
{
	(void)state;
	static const uint8_t program[] = {SET_ADDRESS(0), ROW(0, 1), ROW(4, 1), END, SET_ADDRESS(0x1000), ROW(0, 1),
		SET_ADDRESS(0x800), ROW(0, 1), END, SET_ADDRESS(0x4000), ROW(0, 7), DW_LNS_advance_pc, 1, END,
		SET_ADDRESS(0x5000), ROW(0, 7)};
	struct dwarf_lines lines;
	read_table(&lines, program, sizeof(program), true);
	assert_true(lines.is_damaged);
	assert_int_equal(lines.statements.len, 1);
	assert_statement(&lines, 0, 0x4000, 8);
	dwarf_lines_deinit(&lines);
	for (size_t length = 0; length < sizeof(program); length++) {
		read_table(&lines, program, length, true);
		assert_true(lines.statements.len <= 1);
		dwarf_lines_deinit(&lines);
	}
}

/* Inlined code refers to the abstract entry, which has its name and declaration. */
static void test_declarations(void **state)
{
	(void)state;
	static const struct dwarf_builder_kind kinds[] = {{.version = 2}, {.version = 4, .is_big = true, .is_64 = true},
		{.version = 5}, {.version = 5, .is_big = true, .is_indexed = true}};
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct dwarf_builder builder;
		struct dwarf_file *file;
		struct dwarf_reader reader;
		struct dwarf_functions functions;
		dwarf_builder_make(&builder, &kinds[i]);
		assert_int_equal(dwarf_file_open_sections(builder.sections, builder.swap, &file, NULL), TALLY_OK);
		dwarf_reader_init(&reader);
		const struct dwarf_unit *unit = &file->units.items[0];
		assert_int_equal(dwarf_functions_read(&functions, &reader, file, unit, NULL), TALLY_OK);
		static const uint64_t entered[] = {0x1000, 0x1010, 0x1020, 0x1100};
		static const char *const names[] = {"outer", "middle", "deep", "second"};
		assert_int_equal(functions.functions.len, 4);
		for (size_t f = 0; f < 4; f++) {
			struct dwarf_declaration d;
			uint64_t entry = functions.functions.items[f].entry;
			uint64_t address;
			assert_true(dwarf_declaration_read(&d, &reader, file, entry));
			assert_true(str_equal(d.name, str_from(names[f])));
			assert_true(str_equal(d.linkage, f == 0 ? STR("_outer") : (struct tally_str){NULL, 0}));
			assert_ptr_equal(d.root_file, file);
			assert_int_equal(d.root != entry, f == 1 || f == 2);
			assert_true(dwarf_function_entered(&reader, file, unit, entry, &address));
			assert_int_equal(address, entered[f]);
		}
		struct dwarf_declaration none;
		assert_false(dwarf_declaration_read(&none, &reader, file, UINT64_MAX));
		assert_null(dwarf_unit_producer(&reader, file, unit).data);
		dwarf_functions_deinit(&functions);
		dwarf_reader_deinit(&reader);
		dwarf_file_close(file);
		dwarf_builder_deinit(&builder);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_statements),
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_declarations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
