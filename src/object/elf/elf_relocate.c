/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_relocate.c - relocates the debug sections of relocatable files such as kernel modules, by the addresses of their
 * sections in memory, which the caller provides. It knows the relocation types that compilers emit in debug sections of
 * x86-64 and aarch64; values with another type stay as they are stored.
 */
#include <string.h>

#include "base/error.h"
#include "object/elf/elf_internal.h"

#define SMALLEST_PLACE 4 /* Minimum number of bytes that a relocation writes. */

struct relocation {
	const struct elf_image *image;
	struct elf_symbol_source symbols;
	uint8_t *bytes;
	size_t len;
	uint64_t section; /* Address of the section in memory. */
	/* Maximum number of relocations that are still applied, because several tables may share their bytes in a
	 * malicious file. */
	size_t left;
};

struct relocation_kind {
	uint8_t size; /* Number of bytes that are written; 0 for an unknown type. */
	bool is_relative; /* The value is relative to its own address. */
};

static struct relocation_kind elf_relocate_kind_of(unsigned machine, uint32_t type)
{
	const struct relocation_kind absolute_8 = {8, false}, absolute_4 = {4, false}, relative_8 = {8, true},
				     relative_4 = {4, true}, none = {0, false};
	if (machine == EM_X86_64) {
		switch (type) {
		case R_X86_64_64:
			return absolute_8;
		case R_X86_64_32:
		case R_X86_64_32S:
			return absolute_4;
		case R_X86_64_PC32:
			return relative_4;
		case R_X86_64_PC64:
			return relative_8;
		default:
			return none;
		}
	}
	if (machine != EM_AARCH64)
		return none;
	switch (type) {
	case R_AARCH64_ABS64:
		return absolute_8;
	case R_AARCH64_ABS32:
		return absolute_4;
	case R_AARCH64_PREL32:
		return relative_4;
	case R_AARCH64_PREL64:
		return relative_8;
	default:
		return none;
	}
}

static uint64_t section_address(const struct elf_image *image, uint64_t index)
{
	return index < image->placed_count ? image->placed[index] : 0;
}

uint64_t elf_internal_symbol_address(const struct elf_image *image, const GElf_Sym *symbol)
{
	if (image->type != ET_REL || symbol->st_shndx >= SHN_LORESERVE)
		return symbol->st_value;
	return section_address(image, symbol->st_shndx) + symbol->st_value;
}

static void elf_relocate_store(const struct relocation *r, uint64_t at, unsigned size, uint64_t value)
{
	uint32_t value_4 = (uint32_t)value;
	if (at > r->len || r->len - at < size)
		return;
	if (r->image->swap) {
		value = __builtin_bswap64(value);
		value_4 = __builtin_bswap32(value_4);
	}
	memcpy(r->bytes + at, size == 8 ? (const void *)&value : &value_4, size);
}

static void elf_relocate_apply(const struct relocation *r, const GElf_Rela *rela)
{
	GElf_Sym symbol;
	struct relocation_kind kind = elf_relocate_kind_of(r->image->machine, (uint32_t)GELF_R_TYPE(rela->r_info));
	uint64_t index = GELF_R_SYM(rela->r_info);
	if (kind.size == 0 || index >= r->symbols.count || !gelf_getsym(r->symbols.data, (int)index, &symbol))
		return;
	uint64_t value = elf_internal_symbol_address(r->image, &symbol) + (uint64_t)rela->r_addend;
	if (kind.is_relative)
		value -= r->section + rela->r_offset;
	elf_relocate_store(r, rela->r_offset, kind.size, value);
}

enum tally_status elf_internal_relocate(
	const struct elf_image *image, size_t index, struct elf_section *section, struct tally_error *err)
{
	struct relocation r = {.image = image, .section = section_address(image, index)};
	if (image->type != ET_REL || image->placed_count == 0 || !elf_internal_symbols(image, SHT_SYMTAB, &r.symbols))
		return TALLY_OK;
	Elf_Scn *from = NULL;
	r.left = section->bytes.len / SMALLEST_PLACE;
	while (r.left > 0 && (from = elf_nextscn(image->elf, from))) {
		GElf_Shdr header;
		if (!gelf_getshdr(from, &header) || header.sh_type != SHT_RELA || header.sh_info != index)
			continue;
		if (!section->owned) {
			section->owned = malloc(section->bytes.len ? section->bytes.len : 1);
			if (!section->owned)
				return error_nomem(err);
			memcpy(section->owned, section->bytes.data, section->bytes.len);
			section->bytes.data = section->owned;
		}
		r.bytes = section->owned;
		r.len = section->bytes.len;
		Elf_Data *data = elf_getdata(from, NULL);
		size_t count = data && header.sh_entsize ? data->d_size / (size_t)header.sh_entsize : 0;
		for (size_t i = 0; i < count && r.left > 0; i++, r.left--) {
			GElf_Rela rela;
			if (gelf_getrela(data, (int)i, &rela))
				elf_relocate_apply(&r, &rela);
		}
	}
	return TALLY_OK;
}

bool elf_image_is_relocatable(const struct elf_image *image)
{
	return image->type == ET_REL;
}

size_t elf_image_section_count(const struct elf_image *image)
{
	size_t count;
	return elf_getshdrnum(image->elf, &count) == 0 ? count : 0;
}

bool elf_image_section_info(const struct elf_image *image, size_t index, struct elf_section_info *info)
{
	size_t names;
	GElf_Shdr header;
	Elf_Scn *section = elf_getscn(image->elf, index);
	if (!section || elf_getshdrstrndx(image->elf, &names) != 0 || !gelf_getshdr(section, &header))
		return false;
	const char *name = elf_strptr(image->elf, names, header.sh_name);
	*info = (struct elf_section_info){
		.name = name ? name : "",
		.address = header.sh_addr,
		.size = header.sh_size,
		.alignment = header.sh_addralign,
		.is_in_memory = (header.sh_flags & SHF_ALLOC) != 0,
		.is_executable = (header.sh_flags & SHF_EXECINSTR) != 0,
	};
	return true;
}

enum tally_status elf_image_place_sections(
	struct elf_image *image, const uint64_t *addresses, size_t count, struct tally_error *err)
{
	uint64_t *copy = arena_array(&image->arena, uint64_t, count);
	if (!copy)
		return error_nomem(err);
	memcpy(copy, addresses, count * sizeof(*copy));
	image->placed = copy;
	image->placed_count = count;
	return TALLY_OK;
}
