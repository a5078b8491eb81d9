/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/elf_image.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "elf_builder.h"
#include "object/elf/xz_decode.h"
#include "tally_config.h"
#include "unit_test.h"

#define TEXT ELF_BUILDER_TEXT_VADDR

static const uint8_t some_id[20] = {0xde, 0xad, 0xbe, 0xef, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

static const struct elf_builder_symbol some_symbols[] = {
	{"main", TEXT + 0x10, 0x20, STT_FUNC, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_TEXT},
	{"helper", TEXT + 0x30, 8, STT_FUNC, STB_LOCAL, STV_DEFAULT, ELF_BUILDER_TEXT},
	{"weak_one", TEXT + 0x40, 8, STT_GNU_IFUNC, STB_WEAK, STV_DEFAULT, ELF_BUILDER_TEXT},
	{"unique", TEXT + 0x50, 8, STT_OBJECT, STB_GNU_UNIQUE, STV_DEFAULT, ELF_BUILDER_TEXT},
	{"label", TEXT + 0x60, 0, STT_NOTYPE, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_TEXT},
	{"hidden_label", TEXT + 0x70, 0, STT_NOTYPE, STB_GLOBAL, STV_HIDDEN, ELF_BUILDER_TEXT},
	{"undefined", 0, 0, STT_FUNC, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_UNDEFINED},
	{"VERSION_1", 0, 0, STT_OBJECT, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_ABSOLUTE},
	{"warning", 0, 7, STT_OBJECT, STB_LOCAL, STV_DEFAULT, ELF_BUILDER_WARNING},
	{"file.c", 0, 0, STT_FILE, STB_LOCAL, STV_DEFAULT, ELF_BUILDER_ABSOLUTE},
	{NULL, TEXT, 0, STT_SECTION, STB_LOCAL, STV_DEFAULT, ELF_BUILDER_TEXT},
};

static const struct elf_builder_symbol some_dynamic[] = {
	{"malloc", 0, 0, STT_FUNC, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_UNDEFINED},
	{"free", 0, 0, STT_FUNC, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_UNDEFINED},
	{"exported", TEXT + 0x10, 0x20, STT_FUNC, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_TEXT},
};

#define COUNT(array) (ARRAY_LEN(array))

static struct elf_builder whole(bool is_64, bool is_big)
{
	return (struct elf_builder){
		.is_64 = is_64,
		.is_big = is_big,
		.symbols = some_symbols,
		.symbol_count = COUNT(some_symbols),
		.dynamic = some_dynamic,
		.dynamic_count = COUNT(some_dynamic),
		.build_id = {some_id, sizeof(some_id)},
		.debuglink = "program.debug",
		.debuglink_crc = 0x12345678,
	};
}

static struct elf_image *open_built(const struct elf_builder *what, struct writer *bytes)
{
	struct elf_image *image;
	elf_builder_make(what, bytes);
	assert_false(bytes->failed);
	assert_int_equal(elf_image_open_bytes(writer_view(bytes), &image, NULL), TALLY_OK);
	return image;
}

static void reads_each_class_and_order(void **state)
{
	for (int kind = 0; kind < 4; kind++) {
		struct elf_builder what = whole(kind & 1, kind & 2);
		struct writer bytes = {0};
		struct elf_image *image = open_built(&what, &bytes);
		struct elf_build_id id = elf_image_build_id(image);
		assert_int_equal(id.size, 20);
		assert_memory_equal(id.bytes, some_id, 20);
		size_t count;
		const struct elf_segment *segments = elf_image_segments(image, &count);
		assert_int_equal(count, 1);
		assert_true(segments[0].is_executable);
		assert_int_equal(segments[0].vaddr - segments[0].offset, TEXT - ELF_BUILDER_TEXT_OFFSET);
		struct tally_str link;
		uint32_t crc;
		assert_true(elf_image_debuglink(image, &link, &crc));
		assert_true(str_equal(link, STR("program.debug")));
		assert_int_equal(crc, 0x12345678);
		assert_int_equal(elf_image_section(image, ".text").len, ELF_BUILDER_TEXT_SIZE);
		assert_int_equal(elf_image_section(image, ".none").len, 0);
		assert_int_equal(elf_image_machine(image), what.is_64 ? EM_X86_64 : EM_386);
		elf_image_close(image);
		writer_deinit(&bytes);
	}
}

static void keeps_what_can_name_code(void **state)
{
	const char *names[] = {"main", "helper", "weak_one", "unique", "label"};
	for (int kind = 0; kind < 4; kind++) {
		struct elf_builder what = whole(kind & 1, kind & 2);
		struct writer bytes = {0};
		struct elf_image *image = open_built(&what, &bytes);
		struct elf_symbol_list list = {0};
		assert_true(elf_image_has_symtab(image));
		assert_int_equal(elf_image_symbols(image, &list, NULL), TALLY_OK);
		assert_int_equal(list.symbols.len, COUNT(names));
		for (size_t i = 0; i < COUNT(names); i++) {
			assert_string_equal(list.symbols.items[i].name, names[i]);
			assert_int_equal(list.symbols.items[i].binding, "glwug"[i]);
			assert_int_equal(list.symbols.items[i].vaddr, some_symbols[i].value);
			assert_int_equal(list.symbols.items[i].size, some_symbols[i].size);
			assert_int_equal(list.symbols.items[i].is_function, i < 3);
		}
		vec_free(&list.symbols);
		elf_image_close(image);
		writer_deinit(&bytes);
	}
}

static void falls_back_to_dynamic_symbols(void **state)
{
	struct elf_builder what = whole(true, false);
	what.symbols = NULL;
	struct writer bytes = {0};
	struct elf_image *image = open_built(&what, &bytes);
	struct elf_symbol_list list = {0};
	assert_false(elf_image_has_symtab(image));
	assert_int_equal(elf_image_symbols(image, &list, NULL), TALLY_OK);
	assert_int_equal(list.symbols.len, 1);
	assert_string_equal(list.symbols.items[0].name, "exported");
	vec_free(&list.symbols);
	elf_image_close(image);
	writer_deinit(&bytes);
}

static void leaves_marks_of_assemblers_out(void **state)
{
	static const struct elf_builder_symbol symbols[] = {
		{"$x", TEXT, 0, STT_NOTYPE, STB_LOCAL, STV_DEFAULT, ELF_BUILDER_TEXT},
		{"thumb", TEXT + 0x11, 4, STT_FUNC, STB_GLOBAL, STV_DEFAULT, ELF_BUILDER_TEXT},
	};
	struct elf_builder what = {.machine = EM_ARM, .symbols = symbols, .symbol_count = 2};
	struct writer bytes = {0};
	struct elf_image *image = open_built(&what, &bytes);
	struct elf_symbol_list list = {0};
	assert_int_equal(elf_image_symbols(image, &list, NULL), TALLY_OK);
	assert_int_equal(list.symbols.len, 1);
	assert_int_equal(list.symbols.items[0].vaddr, TEXT + 0x10);
	vec_free(&list.symbols);
	elf_image_close(image);
	writer_deinit(&bytes);
}

/* Entry 0 jumps through slot 2 and so on: neither the slots nor the relocations are in the order of the entries. */
static const struct elf_builder_jump some_jumps[] = {{2, 1, 0}, {0, 2, 0}, {1, 0, TEXT + 0x10}};

static void check_plt(const struct elf_plt *plt, const size_t *order, uint64_t header)
{
	const char *targets[] = {"malloc", "free", NULL};
	assert_int_equal(plt->entries.len, 4);
	assert_true(plt->entries.items[0].is_header);
	assert_int_equal(plt->entries.items[0].size, header);
	for (size_t i = 0; i < 3; i++) {
		const struct elf_plt_entry *entry = &plt->entries.items[i + 1];
		const char *wanted = targets[order[i]];
		assert_int_equal(entry->vaddr, ELF_BUILDER_PLT_VADDR + header + 16 * i);
		assert_int_equal(entry->size, 16);
		if (wanted) {
			assert_string_equal(entry->target, wanted);
		} else {
			assert_null(entry->target);
			assert_int_equal(entry->resolver, TEXT + 0x10);
		}
	}
}

static void names_plt_entries(void **state)
{
	static const size_t by_code[] = {0, 1, 2}, by_slot[] = {1, 2, 0};
	const struct {
		bool is_64, is_big;
		unsigned machine;
		const size_t *order;
		uint64_t header;
	} cases[] = {
		{true, false, EM_X86_64, by_code, 16},
		{false, false, EM_386, by_code, 16},
		{true, false, EM_AARCH64, by_slot, 32},
		{true, true, EM_AARCH64, by_slot, 32},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct elf_builder what = whole(cases[i].is_64, cases[i].is_big);
		what.machine = cases[i].machine;
		what.jumps = some_jumps;
		what.jump_count = COUNT(some_jumps);
		struct writer bytes = {0};
		struct elf_image *image = open_built(&what, &bytes);
		struct elf_plt plt = {0};
		assert_int_equal(elf_image_plt(image, &plt, NULL), TALLY_OK);
		check_plt(&plt, cases[i].order, cases[i].header);
		vec_free(&plt.entries);
		elf_image_close(image);
		writer_deinit(&bytes);
	}
}

static void reads_notes(void **state)
{
	struct writer w = {0};
	for (int order = 0; order < 2; order++) {
		writer_clear(&w);
		w.swap = order == 1;
		writer_u32(&w, 4); /* The first note has a name and a description that need padding. */
		writer_u32(&w, 5);
		writer_u32(&w, 1);
		writer_bytes(&w, "Xen", 4);
		writer_bytes(&w, "12345\0\0", 8);
		writer_u32(&w, 4);
		writer_u32(&w, 16);
		writer_u32(&w, 3);
		writer_bytes(&w, "GNU", 4);
		writer_bytes(&w, some_id, 16);
		struct elf_build_id id = elf_notes_build_id(writer_view(&w), order == 1);
		assert_int_equal(id.size, 16);
		assert_memory_equal(id.bytes, some_id, 16);
		for (size_t len = 0; len < w.len; len++)
			assert_int_equal(elf_notes_build_id((struct tally_bytes){w.data, len}, order == 1).size, 0);
		writer_patch_u32(&w, 0, UINT32_MAX);
		assert_int_equal(elf_notes_build_id(writer_view(&w), order == 1).size, 0);
	}
	writer_deinit(&w);
}

static void refuses_a_debug_link_with_a_path(void **state)
{
	struct elf_builder what = whole(true, false);
	what.debuglink = "../../etc/passwd";
	struct writer bytes = {0};
	struct elf_image *image = open_built(&what, &bytes);
	struct tally_str link;
	uint32_t crc;
	assert_false(elf_image_debuglink(image, &link, &crc));
	elf_image_close(image);
	writer_deinit(&bytes);
}

static void refuses_other_files(void **state)
{
	struct elf_image *image;
	struct tally_error err;
	struct tally_bytes text = {(const uint8_t *)"#!/bin/sh\necho this is not an ELF file at all\n", 46};
	assert_int_equal(elf_image_open_bytes(text, &image, &err), TALLY_CORRUPT);
	assert_int_equal(elf_image_open("/nonexistent", &image, &err), TALLY_NOT_FOUND);
	assert_int_not_equal(elf_image_open("/proc", &image, &err), TALLY_OK);
	struct elf_build_id id;
	assert_int_not_equal(elf_file_build_id("/nonexistent", &id, &err), TALLY_OK);
}

/* Reads everything in the image; the sanitizer detects errors. */
static void walk(struct tally_bytes bytes)
{
	struct elf_image *image;
	struct elf_symbol_list list = {0};
	struct elf_plt plt = {0};
	struct tally_str link;
	uint32_t crc;
	if (elf_image_open_bytes(bytes, &image, NULL) != TALLY_OK)
		return;
	assert_int_equal(elf_image_symbols(image, &list, NULL), TALLY_OK);
	assert_int_equal(elf_image_plt(image, &plt, NULL), TALLY_OK);
	for (size_t i = 0; i < list.symbols.len; i++)
		assert_true(strlen(list.symbols.items[i].name) > 0);
	for (size_t i = 0; i < plt.entries.len; i++)
		assert_true(!plt.entries.items[i].target || strlen(plt.entries.items[i].target) > 0);
	(void)elf_image_debuglink(image, &link, &crc);
	struct elf_image *inner;
	if (elf_image_open_minidebug(image, &inner, NULL) == TALLY_OK)
		elf_image_close(inner);
	vec_free(&list.symbols);
	vec_free(&plt.entries);
	elf_image_close(image);
}

static void walk_copy(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	assert_non_null(copy);
	memcpy(copy, data, len);
	walk((struct tally_bytes){copy, len});
	free(copy);
}

static void survives_cuts_and_flips(void **state)
{
	for (int kind = 0; kind < 4; kind++) {
		struct elf_builder what = whole(kind & 1, kind & 2);
		what.jumps = some_jumps;
		what.jump_count = COUNT(some_jumps);
		what.debugdata = (struct tally_bytes){some_id, sizeof(some_id)};
		struct writer bytes = {0};
		elf_builder_make(&what, &bytes);
		for (size_t len = 0; len<bytes.len; len += len> ELF_BUILDER_TEXT_OFFSET && len < 0x800 ? 64 : 1)
			walk_copy(bytes.data, len);
		uint32_t random = 12345;
		for (size_t at = 0; at < bytes.len; at++) {
			if (at > ELF_BUILDER_TEXT_OFFSET && at < ELF_BUILDER_PLT_OFFSET)
				continue;
			uint8_t old = bytes.data[at];
			random = random * 1664525 + 1013904223;
			const uint8_t values[] = {0xff, 0x7f, (uint8_t)(old ^ (random >> 24)), (uint8_t)(old + 1)};
			for (size_t i = 0; i < sizeof(values); i++) {
				bytes.data[at] = values[i];
				walk_copy(bytes.data, bytes.len);
			}
			bytes.data[at] = old;
		}
		writer_deinit(&bytes);
	}
}

#if HAVE_LZMA
#include <lzma.h>

static void unpacks_minidebug(void **state)
{
	struct elf_builder inside = {.is_64 = true, .symbols = some_symbols, .symbol_count = COUNT(some_symbols)};
	struct writer inner_bytes = {0};
	elf_builder_make(&inside, &inner_bytes);
	uint8_t packed[8192];
	size_t packed_len = 0;
	assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, inner_bytes.data, inner_bytes.len, packed,
				 &packed_len, sizeof(packed)),
		LZMA_OK);
	struct elf_builder what = whole(true, false);
	what.debugdata = (struct tally_bytes){packed, packed_len};
	struct writer bytes = {0};
	struct elf_image *image = open_built(&what, &bytes);
	struct elf_image *inner;
	assert_int_equal(elf_image_open_minidebug(image, &inner, NULL), TALLY_OK);
	assert_true(elf_image_has_symtab(inner));
	elf_image_close(inner);
	elf_image_close(image);
	uint8_t *out;
	size_t len;
	struct tally_error err;
	struct tally_bytes whole_stream = {packed, packed_len};
	assert_int_equal(xz_decode(whole_stream, 100, &out, &len, &err), TALLY_LIMIT);
	for (size_t cut = 0; cut < packed_len; cut++)
		assert_int_equal(
			xz_decode((struct tally_bytes){packed, cut}, 1 << 20, &out, &len, &err), TALLY_CORRUPT);
	writer_deinit(&bytes);
	writer_deinit(&inner_bytes);
}
#else
static void unpacks_minidebug(void **state)
{
	skip_because("this build has no liblzma");
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_each_class_and_order),
		cmocka_unit_test(keeps_what_can_name_code),
		cmocka_unit_test(falls_back_to_dynamic_symbols),
		cmocka_unit_test(leaves_marks_of_assemblers_out),
		cmocka_unit_test(names_plt_entries),
		cmocka_unit_test(reads_notes),
		cmocka_unit_test(refuses_a_debug_link_with_a_path),
		cmocka_unit_test(refuses_other_files),
		cmocka_unit_test(survives_cuts_and_flips),
		cmocka_unit_test(unpacks_minidebug),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
