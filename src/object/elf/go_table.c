/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/go_table.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/limits.h"
#include "object/elf/elf_internal.h"

#define MAGIC_1_2    0xfffffffbu
#define MAGIC_1_16   0xfffffffau
#define MAGIC_1_18   0xfffffff0u
#define MAGIC_1_20   0xfffffff1u
#define HEADER_BYTES 8 /* before the first word */
#define ALIGNMENT    8

/* What the header says, in the form of the newest. */
struct go_header {
	struct tally_bytes table;
	bool swap, is_relative; /* places of functions are 32-bit distances from the text's begin */
	uint8_t word; /* bytes of an address */
	uint64_t function_count, text, names, functions; /* the last two are offsets in the table */
};

static uint64_t go_word(struct cursor *c, uint8_t bytes)
{
	return bytes == 8 ? cursor_u64(c) : cursor_u32(c);
}

static bool has_words(uint32_t magic)
{
	return magic == MAGIC_1_16 || magic == MAGIC_1_18 || magic == MAGIC_1_20;
}

bool go_table_is(struct tally_bytes bytes, bool swap)
{
	struct cursor c = cursor_make(bytes, swap);
	uint32_t magic = cursor_u32(&c);
	uint16_t zeros = cursor_u16(&c);
	uint8_t quantum = cursor_u8(&c), word = cursor_u8(&c);
	return !c.failed && (magic == MAGIC_1_2 || has_words(magic)) && zeros == 0 &&
	       (quantum == 1 || quantum == 2 || quantum == 4) && (word == 4 || word == 8);
}

/* False: it is truncated, or its offsets lead out of it. */
static bool go_table_read_header(struct tally_bytes table, bool swap, struct go_header *header)
{
	if (!go_table_is(table, swap))
		return false;
	struct cursor c = cursor_make(table, swap);
	uint32_t magic = cursor_u32(&c);
	cursor_skip(&c, 3);
	*header = (struct go_header){.table = table,
		.swap = swap,
		.word = cursor_u8(&c),
		.is_relative = magic == MAGIC_1_18 || magic == MAGIC_1_20};
	header->function_count = go_word(&c, header->word);
	header->functions = HEADER_BYTES + header->word;
	if (has_words(magic)) {
		(void)go_word(&c, header->word); /* number of files */
		header->text = header->is_relative ? go_word(&c, header->word) : 0;
		header->names = go_word(&c, header->word);
		for (int i = 0; i < 3; i++) /* of compile units, files and tables by pc */
			(void)go_word(&c, header->word);
		header->functions = go_word(&c, header->word);
	}
	return !c.failed && header->names <= table.len && header->functions <= table.len;
}

size_t go_table_text_offset(struct tally_bytes table, bool swap)
{
	struct go_header header;
	return go_table_read_header(table, swap, &header) && header.is_relative ? HEADER_BYTES + 2u * header.word : 0;
}

/* NULL: it is not in the table. description: the function's, as an offset from where the functions' list is. */
static const char *go_table_function_name(const struct go_header *header, uint64_t description)
{
	/* In the first form all offsets are from the table's begin. */
	uint64_t from = header->names ? header->functions : 0;
	if (description > header->table.len || from > header->table.len - description)
		return NULL;
	struct cursor c = cursor_make(header->table, header->swap);
	cursor_skip(&c, (size_t)(from + description));
	cursor_skip(&c, header->is_relative ? sizeof(uint32_t) : header->word); /* where the function begins */
	uint32_t offset = cursor_u32(&c);
	if (c.failed || offset >= header->table.len - header->names)
		return NULL;
	const char *name = (const char *)header->table.data + header->names + offset;
	size_t left = (size_t)(header->table.len - header->names - offset);
	return *name && memchr(name, '\0', left) ? name : NULL;
}

enum tally_status go_table_functions(
	struct tally_bytes table, bool swap, uint64_t text, struct go_function_list *list, struct tally_error *err)
{
	struct go_header header;
	if (!go_table_read_header(table, swap, &header))
		return error_set(err, TALLY_CORRUPT, "the table of Go functions has an invalid header");
	uint8_t word = header.is_relative ? sizeof(uint32_t) : header.word;
	uint64_t base = !header.is_relative ? 0 : header.text ? header.text : text;
	struct cursor c = cursor_make(table, swap);
	cursor_skip(&c, (size_t)header.functions);
	if (!cursor_count(&c, header.function_count, 2u * word) || header.function_count > LIMIT_SYMBOLS_PER_OBJECT)
		return error_set(err, TALLY_CORRUPT, "the table of Go functions is cut");
	if (!vec_reserve(&list->functions, (size_t)header.function_count))
		return error_nomem(err);
	uint64_t start = go_word(&c, word);
	for (uint64_t i = 0; i < header.function_count; i++) {
		uint64_t description = go_word(&c, word), next = go_word(&c, word);
		if (c.failed || next < start)
			return error_set(err, TALLY_CORRUPT, "Go function %llu of %llu begins behind the next one",
				(unsigned long long)i, (unsigned long long)header.function_count);
		const char *name = go_table_function_name(&header, description);
		struct go_function function = {.vaddr = base + start, .size = next - start, .name = name};
		if (name && function.size > 0 && !vec_push(&list->functions, function))
			return error_nomem(err);
		start = next;
	}
	return TALLY_OK;
}

/* What the dynamic linker will write at the slot, relative to where it loads the program; 0: nothing. */
static uint64_t relative_value(const struct elf_image *image, uint64_t slot)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	while ((section = elf_nextscn(image->elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || header.sh_entsize == 0)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Rela relocation;
		for (int i = 0; data && gelf_getrela(data, i, &relocation); i++)
			if (relocation.r_offset == slot && GELF_R_SYM(relocation.r_info) == 0)
				return (uint64_t)relocation.r_addend;
	}
	return 0;
}

/* The table in a larger section: the linker of C programs that Go's calls for cgo puts it among other data. */
static struct tally_bytes search_table(const struct elf_image *image, const char *section, uint64_t *vaddr)
{
	struct tally_bytes all = elf_image_section(image, section);
	bool is_go = elf_image_section(image, ".go.buildinfo").len > 0 ||
		     elf_image_section(image, ".note.go.buildid").len > 0;
	for (size_t at = 0; is_go && at + HEADER_BYTES < all.len; at += ALIGNMENT) {
		struct tally_bytes table = bytes_part(all, at, all.len);
		struct go_header header;
		if (!go_table_read_header(table, image->swap, &header) || header.function_count == 0)
			continue;
		*vaddr = elf_image_section_address(image, section) + at;
		return table;
	}
	return (struct tally_bytes){NULL, 0};
}

static struct tally_bytes find_go_table(const struct elf_image *image, uint64_t *vaddr)
{
	static const char *const own[] = {".gopclntab", ".data.rel.ro.gopclntab"};
	static const char *const shared[] = {".data.rel.ro", ".rodata"};
	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		struct tally_bytes table = elf_image_section(image, own[i]);
		*vaddr = elf_image_section_address(image, own[i]);
		if (table.len > 0)
			return table;
	}
	struct tally_bytes found = {NULL, 0};
	for (size_t i = 0; i < ARRAY_LEN(shared) && found.len == 0; i++)
		found = search_table(image, shared[i], vaddr);
	return found;
}

enum tally_status elf_image_go_functions(
	const struct elf_image *image, struct go_function_list *list, struct tally_error *err)
{
	uint64_t vaddr;
	struct tally_bytes table = find_go_table(image, &vaddr);
	if (table.len == 0)
		return error_set(err, TALLY_NOT_FOUND, "no table of Go functions");
	size_t slot = go_table_text_offset(table, image->swap);
	uint64_t text = slot ? relative_value(image, vaddr + slot) : 0;
	return go_table_functions(
		table, image->swap, text ? text : elf_image_section_address(image, ".text"), list, err);
}
