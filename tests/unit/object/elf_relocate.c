/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <string.h>

#include "base/writer.h"
#include "object/elf/elf_image.h"
#include "unit_test.h"

#define TEXT_AT UINT64_C(0xffffffffc0400000)

enum { TEXT = 1, DEBUG, RELA, SYMTAB, STRTAB, SHSTRTAB, SECTIONS };

struct place {
	uint64_t at, symbol, type;
	int64_t addend;
};

struct relocatable {
	bool is_big;
	unsigned machine;
	const struct place *places;
	size_t place_count;
};

struct section {
	uint32_t name, type;
	uint64_t flags, offset, size;
	uint32_t link, info;
	uint64_t entry;
};

static void put_section(struct writer *w, const struct section *section)
{
	writer_u32(w, section->name);
	writer_u32(w, section->type);
	writer_u64(w, section->flags);
	writer_u64(w, 0);
	writer_u64(w, section->offset);
	writer_u64(w, section->size);
	writer_u32(w, section->link);
	writer_u32(w, section->info);
	writer_u64(w, 8);
	writer_u64(w, section->entry);
}

static void put_header(struct writer *w, const struct relocatable *what, uint64_t sections)
{
	const uint8_t ident[EI_NIDENT] = {0x7f, 'E', 'L', 'F', ELFCLASS64, what->is_big ? ELFDATA2MSB : ELFDATA2LSB, 1};
	writer_bytes(w, ident, sizeof(ident));
	writer_u16(w, ET_REL);
	writer_u16(w, (uint16_t)what->machine);
	writer_u32(w, 1);
	writer_u64(w, 0);
	writer_u64(w, 0);
	writer_u64(w, sections);
	writer_u32(w, 0);
	writer_u16(w, sizeof(Elf64_Ehdr));
	writer_u16(w, 0);
	writer_u16(w, 0);
	writer_u16(w, sizeof(Elf64_Shdr));
	writer_u16(w, SECTIONS);
	writer_u16(w, SHSTRTAB);
}

/* Makes a file with .text of 64 bytes, a function `f` at 0x10, and a relocated .debug_info of 32 bytes 0xee. */
static void make(struct writer *w, const struct relocatable *what)
{
	static const char names[] = "\0.text\0.debug_info\0.rela.debug_info\0.symtab\0.strtab\0.shstrtab";
	static const char strings[] = "\0f";
	const uint64_t text = sizeof(Elf64_Ehdr), debug = text + 64, rela = debug + 32;
	const uint64_t symtab = rela + what->place_count * sizeof(Elf64_Rela), strtab = symtab + 3 * sizeof(Elf64_Sym);
	const uint64_t shstrtab = strtab + sizeof(strings), sections = (shstrtab + sizeof(names) + 7) & ~UINT64_C(7);
	w->swap = what->is_big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	put_header(w, what, sections);
	writer_zeros(w, 64);
	for (int i = 0; i < 32; i++)
		writer_u8(w, 0xee);
	for (size_t i = 0; i < what->place_count; i++) {
		writer_u64(w, what->places[i].at);
		writer_u64(w, what->places[i].symbol << 32 | what->places[i].type);
		writer_u64(w, (uint64_t)what->places[i].addend);
	}
	for (unsigned i = 0; i < 3; i++) { /* The null symbol, f, and the section symbol of the debug information. */
		const unsigned in[] = {0, TEXT, DEBUG}, types[] = {0, STT_FUNC, STT_SECTION};
		writer_u32(w, i == 1);
		writer_u8(w, (uint8_t)(STB_LOCAL << 4 | types[i]));
		writer_u8(w, 0);
		writer_u16(w, (uint16_t)in[i]);
		writer_u64(w, i == 1 ? 0x10 : 0);
		writer_u64(w, i == 1 ? 0x20 : 0);
	}
	writer_bytes(w, strings, sizeof(strings));
	writer_bytes(w, names, sizeof(names));
	writer_zeros(w, (size_t)(sections - shstrtab - sizeof(names)));
	const uint64_t rela_size = what->place_count * sizeof(Elf64_Rela);
	const struct section list[SECTIONS] = {{0}, {1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, text, 64, 0, 0, 0},
		{7, SHT_PROGBITS, 0, debug, 32, 0, 0, 0},
		{19, SHT_RELA, 0, rela, rela_size, SYMTAB, DEBUG, sizeof(Elf64_Rela)},
		{36, SHT_SYMTAB, 0, symtab, 3 * sizeof(Elf64_Sym), STRTAB, 3, sizeof(Elf64_Sym)},
		{44, SHT_STRTAB, 0, strtab, sizeof(strings), 0, 0, 0},
		{52, SHT_STRTAB, 0, shstrtab, sizeof(names), 0, 0, 0}};
	for (size_t i = 0; i < SECTIONS; i++)
		put_section(w, &list[i]);
}

static uint64_t load(const struct elf_section *section, const struct relocatable *what, size_t at, size_t size)
{
	uint64_t value = 0;
	for (size_t i = 0; i < size; i++)
		value = value << 8 | section->bytes.data[at + (what->is_big ? i : size - 1 - i)];
	return value;
}

static void check(const struct relocatable *what, unsigned relative_size)
{
	struct writer w = {0};
	struct elf_image *image;
	struct elf_section info;
	struct elf_symbol_list list = {0};
	const uint64_t addresses[SECTIONS] = {[TEXT] = TEXT_AT};
	make(&w, what);
	assert_int_equal(elf_image_open_bytes((struct tally_bytes){w.data, w.len}, &image, NULL), TALLY_OK);
	assert_true(elf_image_is_relocatable(image));
	assert_int_equal(elf_section_open(image, ".debug_info", &info, NULL), TALLY_OK);
	assert_int_equal(info.bytes.data[0], 0xee); /* The address of the section is not known yet. */
	elf_section_close(&info);
	assert_int_equal(elf_image_place_sections(image, addresses, SECTIONS, NULL), TALLY_OK);
	assert_int_equal(elf_section_open(image, ".debug_info", &info, NULL), TALLY_OK);
	assert_true(load(&info, what, 0, 8) == TEXT_AT + 0x10 + 4);
	assert_int_equal(load(&info, what, 8, 4), 0x123);
	assert_true(load(&info, what, 12, relative_size) ==
		    ((TEXT_AT + 0x10 - 12) & (relative_size == 4 ? UINT32_MAX : UINT64_MAX)));
	/* The relocation is of an unknown type or out of range, so the byte is unchanged. */
	assert_int_equal(info.bytes.data[31], 0xee);
	elf_section_close(&info);
	assert_int_equal(elf_image_symbols(image, &list, NULL), TALLY_OK);
	assert_int_equal(list.symbols.len, 1);
	assert_true(list.symbols.items[0].vaddr == TEXT_AT + 0x10);
	vec_free(&list.symbols);
	elf_image_close(image);
	writer_deinit(&w);
}

static void relocates_debug_sections(void **state)
{
	const struct place x86[] = {{0, 1, R_X86_64_64, 4}, {8, 2, R_X86_64_32, 0x123}, {12, 1, R_X86_64_PC32, 0},
		{24, 1, 0xff, 0}, {UINT64_MAX - 2, 1, R_X86_64_64, 0}, {30, 1, R_X86_64_32S, 0},
		{16, 77, R_X86_64_64, 0}};
	const struct place arm[] = {{0, 1, R_AARCH64_ABS64, 4}, {8, 2, R_AARCH64_ABS32, 0x123},
		{12, 1, R_AARCH64_PREL64, 0}, {28, 1, R_AARCH64_ABS64, 0}};
	(void)state;
	check(&(struct relocatable){.machine = EM_X86_64, .places = x86, .place_count = 7}, 4);
	check(&(struct relocatable){.machine = EM_AARCH64, .places = arm, .place_count = 4}, 8);
	check(&(struct relocatable){.machine = EM_AARCH64, .is_big = true, .places = arm, .place_count = 4}, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(relocates_debug_sections)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
