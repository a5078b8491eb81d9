/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_versions.c - makes names of dynamic symbols with their versions ("free@GLIBC_2.2.5"), and names the slots that
 * the dynamic linker fills, as disassemblers do for operands.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "object/elf/elf_internal.h"

#define VERSION_HIDDEN 0x8000
#define VERSION_NUMBER 0x7fff

static Elf_Data *data_of(const struct elf_image *image, unsigned type)
{
	Elf_Scn *section = NULL;
	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		if (gelf_getshdr(section, &header) && header.sh_type == type)
			return elf_getdata(section, NULL);
	}
	return NULL;
}

static bool elf_versions_set_name(struct elf_versions *versions, unsigned number, size_t name, bool is_needed)
{
	const char *text = elf_strptr(versions->image->elf, versions->table.strings, name);
	number &= VERSION_NUMBER;
	while (versions->names.len <= number)
		if (!vec_push(&versions->names, ((struct elf_version){0})))
			return false;
	versions->names.items[number] = (struct elf_version){text, is_needed};
	return true;
}

/* Offsets of links are positive, so the loop ends at the end of the section at the latest. */
static bool read_definitions(struct elf_versions *versions)
{
	Elf_Data *data = data_of(versions->image, SHT_GNU_verdef);
	GElf_Verdef definition;
	GElf_Verdaux name;
	for (int at = 0; data && gelf_getverdef(data, at, &definition);) {
		uint64_t names_at = (uint64_t)at + definition.vd_aux;
		bool is_file = definition.vd_flags & VER_FLG_BASE;
		if (!is_file && names_at <= INT32_MAX && gelf_getverdaux(data, (int)names_at, &name) &&
			!elf_versions_set_name(versions, definition.vd_ndx, name.vda_name, false))
			return false;
		if (definition.vd_next == 0 || definition.vd_next > (uint32_t)(INT32_MAX - at))
			break;
		at += (int)definition.vd_next;
	}
	return true;
}

static bool read_needs_of(struct elf_versions *versions, Elf_Data *data, int at, unsigned count)
{
	GElf_Vernaux need;
	for (unsigned i = 0; i < count && gelf_getvernaux(data, at, &need); i++) {
		if (!elf_versions_set_name(versions, need.vna_other, need.vna_name, true))
			return false;
		if (need.vna_next == 0 || need.vna_next > (uint32_t)(INT32_MAX - at))
			break;
		at += (int)need.vna_next;
	}
	return true;
}

static bool read_needs(struct elf_versions *versions)
{
	Elf_Data *data = data_of(versions->image, SHT_GNU_verneed);
	GElf_Verneed file;
	for (int at = 0; data && gelf_getverneed(data, at, &file);) {
		uint64_t needs_at = (uint64_t)at + file.vn_aux;
		if (needs_at <= INT32_MAX && !read_needs_of(versions, data, (int)needs_at, file.vn_cnt))
			return false;
		if (file.vn_next == 0 || file.vn_next > (uint32_t)(INT32_MAX - at))
			break;
		at += (int)file.vn_next;
	}
	return true;
}

bool elf_internal_versions(struct elf_image *image, struct elf_versions *versions)
{
	*versions = (struct elf_versions){.image = image};
	if (!elf_internal_symbols(image, SHT_DYNSYM, &versions->table))
		return true;
	versions->numbers = data_of(image, SHT_GNU_versym);
	return !versions->numbers || (read_definitions(versions) && read_needs(versions));
}

void elf_internal_versions_deinit(struct elf_versions *versions)
{
	vec_free(&versions->names);
}

/* Does not use printf, which would take ten times as long: a library has tens of thousands of names with versions. */
static const char *elf_versions_join(
	struct arena *arena, struct tally_str name, struct tally_str sign, struct tally_str version)
{
	size_t bytes;
	bool fits = checked_add(name.len, version.len, &bytes) && checked_add(bytes, sign.len + 1, &bytes);
	char *joined = fits ? arena_alloc(arena, bytes, 1) : NULL;
	if (!joined)
		return NULL;
	memcpy(joined, name.data, name.len);
	memcpy(joined + name.len, sign.data, sign.len);
	memcpy(joined + name.len + sign.len, version.data, version.len);
	return joined;
}

const char *elf_internal_versioned(
	const struct elf_versions *versions, size_t index, const GElf_Sym *symbol, const char *name)
{
	GElf_Versym number;
	if (!versions->numbers || index > INT32_MAX || !gelf_getversym(versions->numbers, (int)index, &number))
		return name;
	unsigned version = number & VERSION_NUMBER;
	struct elf_version none = {0};
	struct elf_version known = version < versions->names.len ? versions->names.items[version] : none;
	const char *text = known.name;
	if (!text && version == VER_NDX_GLOBAL)
		text = "Base";
	if (!text || strchr(name, '@'))
		return name;
	/* A variable that is copied from a library by a copy relocation (stderr) is defined here, but with the
	 * library's version. */
	bool is_default = !(number & VERSION_HIDDEN) && symbol->st_shndx != SHN_UNDEF && !known.is_needed;
	return elf_versions_join(
		&versions->image->arena, str_from(name), is_default ? STR("@@") : STR("@"), str_from(text));
}

static bool add_reference(const struct elf_versions *versions, const GElf_Rela *relocation, const char **made,
	struct elf_reference_list *list)
{
	GElf_Sym symbol;
	size_t index = GELF_R_SYM(relocation->r_info);
	const struct elf_symbol_source *table = &versions->table;
	if (index == 0 || index >= table->count || !elf_internal_symbol(table, index, &symbol))
		return true;
	if (!made[index]) {
		const char *name = elf_internal_symbol_name(versions->image, table, &symbol);
		if (!name || *name == '\0')
			return true;
		made[index] = elf_internal_versioned(versions, index, &symbol, name);
	}
	struct elf_reference reference = {.slot = relocation->r_offset,
		.name = made[index],
		.is_jump = elf_internal_is_jump_slot(versions->image, GELF_R_TYPE(relocation->r_info))};
	reference.value =
		symbol.st_shndx == SHN_UNDEF ? reference.slot : elf_internal_symbol_address(versions->image, &symbol);
	return reference.name && vec_push(&list->references, reference);
}

static bool add_references(
	const struct elf_versions *versions, Elf_Scn *section, const char **made, struct elf_reference_list *list)
{
	GElf_Shdr header;
	struct elf_relocations relocations;
	if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) ||
		!elf_internal_relocations(versions->image, section, &header, &relocations))
		return true;
	GElf_Rela relocation;
	for (size_t i = 0; i < relocations.count && list->references.len < LIMIT_SYMBOLS_PER_OBJECT; i++) {
		if (!elf_internal_relocation(&relocations, i, &relocation))
			break;
		if (!add_reference(versions, &relocation, made, list))
			return false;
	}
	return true;
}

enum tally_status elf_image_references(
	struct elf_image *image, struct elf_reference_list *list, struct tally_error *err)
{
	struct elf_versions versions;
	bool ok = elf_internal_versions(image, &versions);
	/* Caches names by symbol index, because many slots may refer to one symbol. */
	const char **made =
		ok && versions.table.data ? arena_array(&image->arena, const char *, versions.table.count) : NULL;
	Elf_Scn *section = NULL;
	while (made && ok && (section = elf_nextscn(image->elf, section)))
		ok = add_references(&versions, section, made, list);
	ok = ok && (made || !versions.table.data);
	elf_internal_versions_deinit(&versions);
	return ok ? TALLY_OK : error_nomem(err);
}
