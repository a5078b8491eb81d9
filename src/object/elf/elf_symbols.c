/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_symbols.c - reads the symbols of an image that may name code: functions, IFUNCs, objects and labels.
 */
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "object/elf/elf_internal.h"

#define SECTION_IN_MEMORY 1u
#define SECTION_OF_LABELS 2u /* The name has "text" or "data"; labels in other sections do not mark code. */

static void find_names(const struct elf_image *image, struct elf_symbol_source *table)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_getscn(image->elf, table->strings);
	table->names = (struct tally_bytes){NULL, 0};
	if (!section || !gelf_getshdr(section, &header) || header.sh_type != SHT_STRTAB ||
		header.sh_flags & SHF_COMPRESSED)
		return;
	const Elf_Data *data = elf_getdata(section, NULL);
	const uint8_t *last = data && data->d_buf ? memrchr(data->d_buf, '\0', data->d_size) : NULL;
	if (last)
		table->names = (struct tally_bytes){data->d_buf, (size_t)(last + 1 - (const uint8_t *)data->d_buf)};
}

bool elf_internal_symbol(const struct elf_symbol_source *table, size_t index, GElf_Sym *symbol)
{
	if (!table->is_usual)
		return index <= INT32_MAX && gelf_getsym(table->data, (int)index, symbol);
	if (index >= table->data->d_size / sizeof(*symbol))
		return false;
	memcpy(symbol, (const uint8_t *)table->data->d_buf + index * sizeof(*symbol), sizeof(*symbol));
	return true;
}

const char *elf_internal_symbol_name(
	const struct elf_image *image, const struct elf_symbol_source *table, const GElf_Sym *symbol)
{
	return symbol->st_name < table->names.len ? (const char *)table->names.data + symbol->st_name
						  : elf_strptr(image->elf, table->strings, symbol->st_name);
}

/* Finds the symbol table and sets everything but the names. */
static bool find_table(const struct elf_image *image, unsigned type, struct elf_symbol_source *table)
{
	Elf_Scn *section = NULL;
	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || header.sh_type != type || header.sh_entsize == 0)
			continue;
		table->data = elf_getdata(section, NULL);
		if (!table->data)
			continue;
		table->count = table->data->d_size / (size_t)header.sh_entsize;
		if (table->count > LIMIT_SYMBOLS_PER_OBJECT)
			table->count = LIMIT_SYMBOLS_PER_OBJECT;
		table->strings = header.sh_link;
		table->is_usual = gelf_getclass(image->elf) == ELFCLASS64 && table->data->d_type == ELF_T_SYM &&
				  table->data->d_buf;
		return true;
	}
	return false;
}

bool elf_internal_symbols(const struct elf_image *image, unsigned type, struct elf_symbol_source *table)
{
	bool is_found = find_table(image, type, table);
	if (is_found)
		find_names(image, table);
	return is_found;
}

bool elf_image_has_symtab(const struct elf_image *image)
{
	struct elf_symbol_source table;
	return find_table(image, SHT_SYMTAB, &table);
}

static char binding_letter(unsigned info)
{
	switch (GELF_ST_BIND(info)) {
	case STB_LOCAL:
		return 'l';
	case STB_WEAK:
		return 'w';
	case STB_GNU_UNIQUE:
		return 'u';
	default:
		return 'g';
	}
}

/* Mapping symbols ("$x", "$d.12") mark boundaries between code and data on ARM and RISC-V. */
static bool is_mapping_symbol(const struct elf_image *image, const char *name)
{
	if (name[0] != '$' || name[1] == '\0')
		return false;
	return image->machine == EM_ARM || image->machine == EM_AARCH64 || image->machine == EM_RISCV;
}

/* Returns the SECTION_* bits of every section, by index, in the image's arena; NULL if memory ran out or there are no
 * sections. */
static const uint8_t *section_kinds(struct elf_image *image, size_t *count)
{
	size_t names;
	if (elf_getshdrnum(image->elf, count) != 0 || elf_getshdrstrndx(image->elf, &names) != 0)
		return NULL;
	uint8_t *kinds = arena_array(&image->arena, uint8_t, *count);
	Elf_Scn *section = NULL;
	while (kinds && (section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		size_t index = elf_ndxscn(section);
		if (index >= *count || !gelf_getshdr(section, &header))
			continue;
		const char *name = elf_strptr(image->elf, names, header.sh_name);
		if (header.sh_flags & SHF_ALLOC)
			kinds[index] |= SECTION_IN_MEMORY;
		if (name && (strstr(name, "text") || strstr(name, "data")))
			kinds[index] |= SECTION_OF_LABELS;
	}
	return kinds;
}

static bool elf_symbols_is_wanted(const uint8_t *kinds, size_t kind_count, bool with_all_labels, const GElf_Sym *symbol)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	unsigned visibility = GELF_ST_VISIBILITY(symbol->st_other);
	bool has_section = symbol->st_shndx < SHN_LORESERVE && symbol->st_shndx < kind_count;
	if (symbol->st_name == 0 || symbol->st_shndx == SHN_UNDEF)
		return false;
	if (has_section && !(kinds[symbol->st_shndx] & SECTION_IN_MEMORY))
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	if (type == STT_OBJECT)
		return symbol->st_shndx != SHN_ABS; /* Names of symbol versions are absolute objects. */
	if (type == STT_NOTYPE && with_all_labels)
		return has_section;
	return type == STT_NOTYPE && has_section && (kinds[symbol->st_shndx] & SECTION_OF_LABELS) != 0 &&
	       visibility != STV_HIDDEN && visibility != STV_INTERNAL;
}

/* versions is NULL, or belongs to the table. */
static enum tally_status list_symbols(struct elf_image *image, const struct elf_symbol_source *from,
	const struct elf_versions *versions, struct elf_symbol_list *list, struct tally_error *err)
{
	struct elf_symbol_source table = *from;
	size_t kind_count = 0;
	const uint8_t *kinds = section_kinds(image, &kind_count);
	if (!kinds)
		return error_nomem(err);
	if (!vec_reserve(&list->symbols, table.count))
		return error_nomem(err);
	for (size_t i = 1; i < table.count; i++) {
		GElf_Sym symbol;
		if (!elf_internal_symbol(&table, i, &symbol) ||
			!elf_symbols_is_wanted(kinds, kind_count, list->with_all_labels, &symbol))
			continue;
		unsigned type = GELF_ST_TYPE(symbol.st_info);
		const char *name = elf_internal_symbol_name(image, &table, &symbol);
		if (!name || *name == '\0' || is_mapping_symbol(image, name))
			continue;
		if (versions)
			name = elf_internal_versioned(versions, i, &symbol, name);
		if (!name)
			return error_nomem(err);
		struct elf_symbol out = {
			.vaddr = elf_internal_symbol_address(image, &symbol),
			.section = symbol.st_shndx,
			.size = symbol.st_size,
			.name = name,
			.binding = binding_letter(symbol.st_info),
			.is_function = type == STT_FUNC || type == STT_GNU_IFUNC,
			.is_object = type == STT_OBJECT,
			.is_resolver = type == STT_GNU_IFUNC,
		};
		/* Bit 0 of a function's address marks Thumb code on ARM. */
		if (image->machine == EM_ARM && out.is_function)
			out.vaddr &= ~UINT64_C(1);
		if (!vec_push(&list->symbols, out))
			return error_nomem(err);
	}
	return TALLY_OK;
}

enum tally_status elf_image_symbols(struct elf_image *image, struct elf_symbol_list *list, struct tally_error *err)
{
	struct elf_symbol_source table = {0};
	if (!elf_internal_symbols(image, SHT_SYMTAB, &table) && !elf_internal_symbols(image, SHT_DYNSYM, &table))
		return TALLY_OK;
	return list_symbols(image, &table, NULL, list, err);
}

enum tally_status elf_image_versioned_symbols(
	struct elf_image *image, struct elf_symbol_list *list, struct tally_error *err)
{
	if (elf_image_has_symtab(image))
		return elf_image_symbols(image, list, err);
	struct elf_versions versions;
	enum tally_status status = TALLY_OK;
	if (!elf_internal_versions(image, &versions))
		status = error_nomem(err);
	else if (versions.table.data)
		status = list_symbols(image, &versions.table, &versions, list, err);
	elf_internal_versions_deinit(&versions);
	return status;
}
