/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_program.c - finds Go's function table in an ELF file, and the module data that points to it. The module data says
 * where the text begins and where the inlining trees are. In position-independent programs, relocations hold its
 * values.
 */
#include "base/array.h"
#include "base/error.h"
#include "object/elf/elf_internal.h"
#include "object/elf/go_internal.h"
#include "object/elf/go_table.h"

#define GO_PROGRAM_HEADER_BYTES 8
#define ALIGNMENT		8
#define CANDIDATES_MAX		16

/* Indexes of words in the module data of Go 1.18 and later. */
enum { MODULE_TABLE, MODULE_NAMES, MODULE_TEXT = 22, MODULE_DATA_1_18 = 38, MODULE_DATA_1_20 = 40, MODULE_WORDS };

struct tally_bytes go_program_bytes(const struct elf_image *image, uint64_t vaddr)
{
	for (size_t i = 0; i < image->segments.len; i++) {
		const struct elf_segment *segment = &image->segments.items[i];
		if (vaddr < segment->vaddr || vaddr - segment->vaddr >= segment->file_size)
			continue;
		uint64_t skip = vaddr - segment->vaddr, left = segment->file_size - skip;
		if (segment->offset > image->bytes.len || skip > image->bytes.len - segment->offset)
			break;
		size_t at = (size_t)(segment->offset + skip);
		return bytes_part(image->bytes, at, (size_t)MIN(left, image->bytes.len - at));
	}
	return (struct tally_bytes){NULL, 0};
}

typedef bool go_relocation_fn(void *context, uint64_t slot, uint64_t value);

/* Reports the values that the dynamic linker will write, relative to the load address, until fn returns false. */
static void each_relocation(const struct elf_image *image, go_relocation_fn *fn, void *context)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	while ((section = elf_nextscn(image->elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || header.sh_entsize == 0)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Rela relocation;
		for (int i = 0; data && gelf_getrela(data, i, &relocation); i++)
			if (GELF_R_SYM(relocation.r_info) == 0 &&
				!fn(context, relocation.r_offset, (uint64_t)relocation.r_addend))
				return;
	}
}

struct go_program_words { /* Words of the program after the dynamic linker has relocated them. */
	uint64_t vaddr;
	uint8_t word;
	uint64_t values[MODULE_WORDS];
	size_t count;
};

static bool put_relocated(void *context, uint64_t slot, uint64_t value)
{
	struct go_program_words *words = context;
	uint64_t at = slot - words->vaddr;
	if (slot >= words->vaddr && at / words->word < words->count && at % words->word == 0)
		words->values[at / words->word] = value;
	return true;
}

static void read_words(const struct elf_image *image, uint8_t word, uint64_t vaddr, struct go_program_words *words)
{
	struct cursor c = cursor_make(go_program_bytes(image, vaddr), image->swap);
	*words = (struct go_program_words){.vaddr = vaddr, .word = word, .count = MODULE_WORDS};
	for (size_t i = 0; i < MODULE_WORDS; i++)
		words->values[i] = word == 8 ? cursor_u64(&c) : cursor_u32(&c);
	each_relocation(image, put_relocated, words);
}

static uint64_t go_program_word(const struct elf_image *image, uint8_t word, uint64_t vaddr)
{
	struct go_program_words words = {.vaddr = vaddr, .word = word, .count = 1};
	each_relocation(image, put_relocated, &words);
	return words.values[0];
}

struct go_program_candidates { /* Addresses where a pointer to the table is stored. */
	const struct go_program *program;
	uint64_t items[CANDIDATES_MAX];
	size_t count;
};

static bool add_candidate(void *context, uint64_t slot, uint64_t value)
{
	struct go_program_candidates *candidates = context;
	if (value == candidates->program->vaddr && candidates->count < CANDIDATES_MAX)
		candidates->items[candidates->count++] = slot;
	return candidates->count < CANDIDATES_MAX;
}

static void search_section(
	const struct elf_image *image, const GElf_Shdr *header, struct go_program_candidates *candidates)
{
	struct tally_bytes bytes = elf_internal_section_bytes(image, header);
	uint8_t word = candidates->program->header.word;
	struct cursor c = cursor_make(bytes, image->swap);
	for (uint64_t at = 0; at + word <= bytes.len; at += word) {
		uint64_t value = word == 8 ? cursor_u64(&c) : cursor_u32(&c);
		if (!add_candidate(candidates, header->sh_addr + at, value))
			return;
	}
}

static void find_candidates(const struct elf_image *image, struct go_program_candidates *candidates)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const uint64_t writable = SHF_ALLOC | SHF_WRITE;
	while ((section = elf_nextscn(image->elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_PROGBITS &&
			(header.sh_flags & writable) == writable)
			search_section(image, &header, candidates);
	each_relocation(image, add_candidate, candidates);
}

/* Only tables since Go 1.18 need this: older ones have addresses instead of distances. */
static void read_module(const struct elf_image *image, struct go_program *program)
{
	const struct go_header *header = &program->header;
	struct go_program_candidates candidates = {.program = program};
	struct go_program_words words;
	find_candidates(image, &candidates);
	for (size_t i = 0; i < candidates.count; i++) {
		read_words(image, header->word, candidates.items[i], &words);
		if (words.values[MODULE_TABLE] != program->vaddr ||
			words.values[MODULE_NAMES] != program->vaddr + header->names)
			continue;
		program->text = words.values[MODULE_TEXT];
		program->function_data =
			words.values[header->format == GO_FORMAT_1_18 ? MODULE_DATA_1_18 : MODULE_DATA_1_20];
		return;
	}
}

/* Searches the table in a larger section: with cgo, an external linker merges it with other data. */
static struct tally_bytes search_table(const struct elf_image *image, const char *section, uint64_t *vaddr)
{
	struct tally_bytes all = elf_image_section(image, section);
	bool is_go = elf_image_section(image, ".go.buildinfo").len > 0 ||
		     elf_image_section(image, ".note.go.buildid").len > 0;
	for (size_t at = 0; is_go && at + GO_PROGRAM_HEADER_BYTES < all.len; at += ALIGNMENT) {
		struct tally_bytes table = bytes_part(all, at, all.len);
		struct go_header header;
		if (!go_header_read(table, image->swap, &header) || header.function_count == 0)
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

enum tally_status go_program_find(const struct elf_image *image, struct go_program *program, struct tally_error *err)
{
	struct go_program found = {0};
	struct tally_bytes table = find_go_table(image, &found.vaddr);
	if (table.len == 0)
		return error_set(err, TALLY_NOT_FOUND, "no table of Go functions");
	if (!go_header_read(table, image->swap, &found.header))
		return error_set(err, TALLY_CORRUPT, "the table of Go functions has an invalid header");
	if (go_header_is_relative(&found.header)) {
		size_t slot = go_table_text_offset(table, image->swap);
		read_module(image, &found);
		if (found.header.text)
			found.text = found.header.text;
		if (found.text == 0)
			found.text = go_program_word(image, found.header.word, found.vaddr + slot);
		if (found.text == 0)
			found.text = elf_image_section_address(image, ".text");
	}
	*program = found;
	return TALLY_OK;
}
