/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/elf_function.h"

#include <elf.h>

#include "base/arena.h"
#include "object/dwarf/debug_info.h"
#include "object/elf/elf_image.h"
#include "unit_test.h"

static const uint8_t code[] = {0x90, 0x90, 0x90, 0x90, 0x90, 0xc3};
static const struct elf_function_line lines[] = {{0, 300, "/src/a.js"}, {2, 7, "/src/a.js"}, {4, 8, "/src/b.js"}};

static struct elf_function whole(bool is_swapped)
{
	return (struct elf_function){.machine = EM_AARCH64,
		.is_swapped = is_swapped,
		.name = "generated",
		.code = {code, sizeof(code)},
		.eh_frame = {(const uint8_t *)"frame", 5},
		.eh_frame_header = {(const uint8_t *)"head", 4},
		.lines = lines,
		.line_count = 3};
}

static void a_function_is_read_back(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct writer w = {0};
		struct elf_function function = whole(swap);
		struct elf_image *image;
		struct elf_symbol_list symbols = {0};
		elf_function_write(&w, &function);
		assert_false(w.failed);
		assert_int_equal(elf_image_open_bytes(writer_view(&w), &image, NULL), TALLY_OK);
		assert_int_equal(elf_image_machine(image), EM_AARCH64);
		assert_int_equal(elf_image_symbols(image, &symbols, NULL), TALLY_OK);
		assert_int_equal(symbols.symbols.len, 1);
		assert_string_equal(symbols.symbols.items[0].name, "generated");
		assert_int_equal(symbols.symbols.items[0].vaddr, ELF_FUNCTION_CODE_OFFSET);
		assert_int_equal(symbols.symbols.items[0].size, sizeof(code));
		assert_true(symbols.symbols.items[0].is_function);
		assert_memory_equal(w.data + ELF_FUNCTION_CODE_OFFSET, code, sizeof(code));
		/* The base address of the tables. */
		assert_memory_equal(w.data + ELF_FUNCTION_CODE_OFFSET + 8, "framehead", 9);
		assert_int_equal(elf_image_build_id(image).size, ELF_BUILD_ID_MAX);
		vec_free(&symbols.symbols);
		elf_image_close(image);
		writer_deinit(&w);
	}
}

static void lines_are_read_back(void **state)
{
	static const struct {
		uint64_t at;
		const char *name;
		uint32_t line;
	} wanted[] = {{0, "/src/a.js", 300}, {1, "/src/a.js", 300}, {3, "/src/a.js", 7}, {5, "/src/b.js", 8}};
	(void)state;
	struct writer w = {0};
	struct elf_function function = whole(false);
	struct elf_image *image;
	struct debug_info *info;
	struct arena arena;
	uint64_t addresses[4];
	arena_init(&arena);
	elf_function_write(&w, &function);
	for (size_t i = 0; i < 4; i++)
		addresses[i] = ELF_FUNCTION_CODE_OFFSET + wanted[i].at;
	assert_int_equal(elf_image_open_bytes(writer_view(&w), &image, NULL), TALLY_OK);
	assert_int_equal(debug_info_open(image, &(struct debug_info_options){0}, &info, NULL), TALLY_OK);
	assert_int_equal(debug_info_load(info, addresses, 4, 0, NULL), TALLY_OK);
	for (size_t i = 0; i < 4; i++) {
		struct debug_place place;
		assert_int_equal(debug_info_find(info, addresses[i], &place, 1), 1);
		assert_int_equal(place.line, wanted[i].line);
		assert_string_equal(debug_info_path(info, &place, &arena), wanted[i].name);
	}
	debug_info_close(info);
	elf_image_close(image);
	arena_deinit(&arena);
	writer_deinit(&w);
}

static uint64_t first_id_bytes(const struct elf_function *function)
{
	struct writer w = {0};
	struct elf_image *image;
	uint64_t id;
	elf_function_write(&w, function);
	assert_int_equal(elf_image_open_bytes(writer_view(&w), &image, NULL), TALLY_OK);
	struct elf_build_id whole_id = elf_image_build_id(image);
	memcpy(&id, whole_id.bytes, sizeof(id));
	assert_int_equal(elf_image_section(image, ".debug_line").len, 0);
	assert_int_equal(elf_image_section(image, ".eh_frame").len, 0);
	elf_image_close(image);
	writer_deinit(&w);
	return id;
}

static void build_ids_tell_functions_apart(void **state)
{
	(void)state;
	struct elf_function one = {.machine = EM_X86_64, .name = "f", .code = {code, sizeof(code)}}, other = one;
	assert_int_equal(first_id_bytes(&one), first_id_bytes(&other));
	other.name = "g";
	assert_int_not_equal(first_id_bytes(&one), first_id_bytes(&other));
	other = one;
	other.code.len--;
	assert_int_not_equal(first_id_bytes(&one), first_id_bytes(&other));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_read_back),
		cmocka_unit_test(lines_are_read_back),
		cmocka_unit_test(build_ids_tell_functions_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
