/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the readers of debug information, on units made by hand and on this program itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "dwarf_builder.h"
#include "object/dwarf/debug_info.h"
#include "object/dwarf/dwarf_declaration.h"
#include "object/dwarf/dwarf_file.h"
#include "object/dwarf/dwarf_functions.h"
#include "object/dwarf/dwarf_lines.h"
#include "object/dwarf/dwarf_numbers.h"
#include "object/dwarf/dwarf_ranges.h"
#include "object/dwarf/dwarf_type.h"
#include "unit_test.h"

static const struct dwarf_builder_kind kinds[] = {
	{.version = 2},
	{.version = 2, .is_big = true},
	{.version = 3, .is_64 = true},
	{.version = 4},
	{.version = 4, .is_big = true, .is_64 = true},
	{.version = 5},
	{.version = 5, .is_big = true},
	{.version = 5, .is_64 = true},
	{.version = 5, .is_indexed = true},
	{.version = 5, .is_big = true, .is_64 = true, .is_indexed = true},
};
#define KINDS (ARRAY_LEN(kinds))

struct opened {
	struct dwarf_builder builder;
	struct dwarf_file *file;
	struct dwarf_reader reader;
};

static void open_kind(struct opened *o, const struct dwarf_builder_kind *kind)
{
	dwarf_builder_make(&o->builder, kind);
	assert_int_equal(dwarf_file_open_sections(o->builder.sections, o->builder.swap, &o->file, NULL), TALLY_OK);
	dwarf_reader_init(&o->reader);
}

static void close_opened(struct opened *o)
{
	dwarf_reader_deinit(&o->reader);
	dwarf_file_close(o->file);
	dwarf_builder_deinit(&o->builder);
}

static void assert_text(struct tally_str got, const char *wanted)
{
	assert_true(str_equal(got, str_from(wanted)));
}

static void test_unit_head(void **state)
{
	(void)state;
	for (size_t i = 0; i < KINDS; i++) {
		struct opened o;
		open_kind(&o, &kinds[i]);
		assert_int_equal(o.file->damaged, 0);
		assert_int_equal(o.file->units.len, 1);
		const struct dwarf_unit *unit = &o.file->units.items[0];
		assert_int_equal(unit->version, kinds[i].version);
		assert_int_equal(unit->low_pc, 0x1000);
		assert_int_equal(unit->high_pc, 0x1200);
		assert_text(unit->name, "unit.c");
		assert_text(unit->comp_dir, "/src");
		assert_true(unit->has_lines);
		assert_ptr_equal(dwarf_file_unit_at(o.file, unit->first_entry), unit);
		assert_null(dwarf_file_unit_at(o.file, unit->end));
		close_opened(&o);
	}
}

struct expected_line {
	uint64_t address;
	const char *path;
	uint32_t line, discriminator;
};

static void test_lines(void **state)
{
	(void)state;
	static const struct expected_line expected[] = {{0x1000, "/src/unit.c", 1, 0}, {0x100f, "/src/unit.c", 1, 0},
		{0x1010, "/src/include/header.h", 11, 0}, {0x1020, "/src/include/header.h", 12, 0},
		{0x1031, "/src/include/header.h", 13, 7}, {0x1050, "/src/unit.c", 5, 0}, {0x1100, "/src/unit.c", 40, 0},
		{0x117f, "/src/unit.c", 40, 0}};
	for (size_t i = 0; i < KINDS; i++) {
		struct opened o;
		struct dwarf_lines lines;
		struct arena arena;
		open_kind(&o, &kinds[i]);
		arena_init(&arena);
		assert_int_equal(dwarf_lines_read(&lines, &o.reader, o.file, &o.file->units.items[0], NULL), TALLY_OK);
		assert_false(lines.is_damaged);
		for (size_t e = 0; e < ARRAY_LEN(expected); e++) {
			const struct dwarf_line_row *row = dwarf_lines_find(&lines, expected[e].address);
			assert_non_null(row);
			assert_int_equal(row->line, expected[e].line);
			assert_int_equal(row->discriminator, expected[e].discriminator);
			assert_string_equal(dwarf_lines_path(&lines, row->file, &arena), expected[e].path);
		}
		assert_null(dwarf_lines_find(&lines, 0xfff));
		assert_null(dwarf_lines_find(&lines, 0x1180));
		assert_null(dwarf_lines_path(&lines, 99, &arena));
		arena_deinit(&arena);
		dwarf_lines_deinit(&lines);
		close_opened(&o);
	}
}

/* Writes the names from the innermost frame outwards, with call lines: "deep:30 middle:20 _outer". */
static void describe(struct opened *o, const struct dwarf_functions *functions, uint64_t address, char *text)
{
	*text = '\0';
	uint32_t f = dwarf_functions_find(functions, address);
	for (; f != DWARF_NO_FUNCTION; f = functions->functions.items[f].caller) {
		const struct dwarf_function *function = &functions->functions.items[f];
		struct tally_str name = dwarf_function_name(&o->reader, o->file, function->entry);
		text += sprintf(text, "%.*s", (int)name.len, name.data);
		if (function->call_line)
			text += sprintf(text, ":%u:%u ", function->call_file, function->call_line);
	}
}

static void test_functions(void **state)
{
	(void)state;
	static const struct {
		uint64_t address;
		const char *text;
	} expected[] = {{0xfff, ""}, {0x1000, "_outer"}, {0x1010, "middle:2:20 _outer"},
		{0x1020, "deep:1:30 middle:2:20 _outer"}, {0x102f, "deep:1:30 middle:2:20 _outer"},
		{0x1030, "middle:2:20 _outer"}, {0x1043, "deep:1:30 middle:2:20 _outer"},
		{0x1044, "middle:2:20 _outer"}, {0x1050, "_outer"}, {0x10ff, "_outer"}, {0x1100, "second"},
		{0x1180, ""}};
	for (size_t i = 0; i < KINDS; i++) {
		struct opened o;
		struct dwarf_functions functions;
		char text[256];
		open_kind(&o, &kinds[i]);
		assert_int_equal(
			dwarf_functions_read(&functions, &o.reader, o.file, &o.file->units.items[0], NULL), TALLY_OK);
		assert_false(functions.is_damaged);
		assert_int_equal(functions.functions.len, 4);
		for (size_t e = 0; e < ARRAY_LEN(expected); e++) {
			describe(&o, &functions, expected[e].address, text);
			assert_string_equal(text, expected[e].text);
		}
		dwarf_functions_deinit(&functions);
		close_opened(&o);
	}
}

/* Each section is truncated at every length: nothing is read past its end, and undamaged functions still have their
 * names. */
static void test_cut_sections(void **state)
{
	(void)state;
	struct dwarf_builder builder;
	dwarf_builder_make(&builder, &(struct dwarf_builder_kind){.version = 5, .is_indexed = true});
	for (int section = 0; section < DWARF_SECTIONS; section++) {
		for (size_t length = 0; length < builder.sections[section].len; length++) {
			struct tally_bytes sections[DWARF_SECTIONS];
			memcpy(sections, builder.sections, sizeof(sections));
			uint8_t *exact = malloc(length ? length : 1);
			assert_non_null(exact);
			memcpy(exact, sections[section].data, length);
			sections[section] = (struct tally_bytes){exact, length};
			struct dwarf_file *file;
			struct dwarf_reader reader;
			dwarf_reader_init(&reader);
			assert_int_equal(dwarf_file_open_sections(sections, builder.swap, &file, NULL), TALLY_OK);
			for (size_t i = 0; i < file->units.len; i++) {
				struct dwarf_lines lines;
				struct dwarf_functions functions;
				const struct dwarf_unit *unit = &file->units.items[i];
				assert_int_equal(dwarf_lines_read(&lines, &reader, file, unit, NULL), TALLY_OK);
				assert_int_equal(dwarf_functions_read(&functions, &reader, file, unit, NULL), TALLY_OK);
				if (section == DWARF_LINE)
					assert_int_equal(functions.functions.len, 4);
				dwarf_lines_deinit(&lines);
				dwarf_functions_deinit(&functions);
			}
			dwarf_reader_deinit(&reader);
			dwarf_file_close(file);
			free(exact);
		}
	}
	dwarf_builder_deinit(&builder);
}

/* Two functions that the linker merged into one address do not call each other. */
static void test_overlap(void **state)
{
	(void)state;
	struct dwarf_code_range ranges[] = {{0x10, 0x20, 0, DWARF_NO_FUNCTION}, {0x10, 0x20, 1, 0}};
	struct dwarf_function items[] = {
		{.entry = 1, .caller = DWARF_NO_FUNCTION}, {.entry = 2, .caller = DWARF_NO_FUNCTION}};
	struct dwarf_functions functions = {.functions = {items, 2, 2}, .ranges = {ranges, 2, 2}};
	assert_int_equal(dwarf_functions_find(&functions, 0x18), 1);
	assert_int_equal(dwarf_functions_find(&functions, 0x20), DWARF_NO_FUNCTION);
}

__attribute__((noinline)) static int marked(int x)
{
	return x * 3; /* test_own_program looks up this line. */
}
enum { MARKED_LINE = __LINE__ - 2 };

extern const char __executable_start; /* Defined by the linker. */

/* Returns the link-time address of a function of this program, which may be a PIE. */
static uint64_t link_address(const struct elf_image *image, int (*function)(int))
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(image, &count);
	return (uint64_t)(uintptr_t)function - (uint64_t)(uintptr_t)&__executable_start + segments[0].vaddr;
}

static void test_own_program(void **state)
{
	(void)state;
	struct elf_image *image;
	struct debug_info *info;
	uint64_t address;
	int (*volatile call)(int) = marked;
	assert_int_equal(call(1), 3);
	assert_int_equal(elf_image_open("/proc/self/exe", &image, NULL), TALLY_OK);
	enum tally_status status = debug_info_open(image, &(struct debug_info_options){0}, &info, NULL);
	if (status == TALLY_NOT_FOUND) {
		elf_image_close(image);
		skip_because("this program was built without debug information");
	}
	assert_int_equal(status, TALLY_OK);
	address = link_address(image, call);
	assert_int_equal(debug_info_load(info, &address, 1, 1, NULL), TALLY_OK);
	struct debug_place places[4];
	struct dwarf_reader reader;
	struct arena arena;
	dwarf_reader_init(&reader);
	arena_init(&arena);
	assert_int_equal(debug_info_find(info, address, places, 4), 1);
	assert_text(debug_info_name(info, &reader, &places[0]), "marked");
	assert_in_range(places[0].line, MARKED_LINE - 2, MARKED_LINE + 1);
	const char *path = debug_info_path(info, &places[0], &arena);
	assert_non_null(path);
	assert_true(str_ends_with(str_from(path), STR("tests/unit/object/dwarf.c")));
	assert_int_equal(debug_info_find(info, 1, places, 4), 0);
	assert_int_equal(debug_info_damaged(info), 0);
	arena_deinit(&arena);
	dwarf_reader_deinit(&reader);
	debug_info_close(info);
	elf_image_close(image);
}

static const uint8_t TYPE_ABBREVS[] = {
	1, DW_TAG_compile_unit, 1, 0, 0, /* */
	2, DW_TAG_type_unit, 1, 0, 0, /* */
	3, DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_string, DW_AT_byte_size, DW_FORM_data1, 0, 0, /* */
	4, DW_TAG_structure_type, 0, DW_AT_declaration, DW_FORM_flag_present, DW_AT_signature, DW_FORM_ref_sig8, 0,
	0, /* */
	5, DW_TAG_pointer_type, 0, DW_AT_type, DW_FORM_ref_sig8, 0, 0, 0, /* */
};
#define SIGNATURE UINT64_C(0x1122334455667788)

/* Writes a unit that declares a struct, points to it and to a signature without unit, and the type unit of the struct.
 * Sets the offsets of the three entries. */
static void make_type_units(struct writer *w, uint64_t entries[3])
{
	for (unsigned kind = DW_UT_compile; kind <= DW_UT_type; kind++) {
		size_t start = w->len;
		writer_u32(w, 0);
		writer_u16(w, 5);
		writer_u8(w, (uint8_t)kind);
		writer_u8(w, 8);
		writer_u32(w, 0);
		if (kind == DW_UT_type) {
			writer_u64(w, SIGNATURE);
			writer_u32(w, 25); /* After this header and the entry of the unit. */
			writer_bytes(w, (const uint8_t[]){2, 3, 's', 0, 12, 0}, 6);
		} else {
			writer_u8(w, 1);
			for (uint8_t i = 0; i < 3; i++) {
				entries[i] = w->len;
				writer_u8(w, i ? 5 : 4);
				writer_u64(w, SIGNATURE + (i == 2));
			}
			writer_u8(w, 0);
		}
		writer_patch_u32(w, start, (uint32_t)(w->len - start - 4));
	}
}

static void test_type_units(void **state)
{
	for (unsigned order = 0; order < 2; order++) {
		struct writer info = {.swap = order};
		uint64_t entries[3];
		make_type_units(&info, entries);
		struct tally_bytes sections[DWARF_SECTIONS] = {
			[DWARF_INFO] = writer_view(&info), [DWARF_ABBREV] = {TYPE_ABBREVS, sizeof(TYPE_ABBREVS)}};
		/* Every prefix is read safely. */
		for (size_t len = 0; len <= info.len; len++) {
			struct dwarf_file *file;
			struct dwarf_types types;
			sections[DWARF_INFO].len = len;
			assert_int_equal(dwarf_file_open_sections(sections, order, &file, NULL), TALLY_OK);
			dwarf_types_init(&types);
			bool is_whole = len == info.len;
			const struct dwarf_type *type =
				dwarf_type_at(&types, (struct dwarf_reference){file, entries[0]});
			if (is_whole) {
				assert_int_equal(file->units.len, 1);
				assert_string_equal(dwarf_type_name(&types, type), "struct s");
				assert_int_equal(dwarf_type_size(&types, type), 12);
			}
			type = dwarf_type_at(&types, (struct dwarf_reference){file, entries[1]});
			assert_true(!is_whole || strcmp(dwarf_type_name(&types, type), "struct s*") == 0);
			type = dwarf_type_at(&types, (struct dwarf_reference){file, entries[2]});
			assert_true(!is_whole || strcmp(dwarf_type_name(&types, type), "void*") == 0);
			dwarf_types_deinit(&types);
			dwarf_file_close(file);
		}
		writer_deinit(&info);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_type_units),
		cmocka_unit_test(test_unit_head),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_cut_sections),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_own_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
