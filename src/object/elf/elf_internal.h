/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_internal.h - declares what the modules of object/elf share of an image; others do not include it.
 */
#ifndef OBJECT_ELF_ELF_INTERNAL_H
#define OBJECT_ELF_ELF_INTERNAL_H

#include <gelf.h>

#include "base/arena.h"
#include "base/cursor.h"
#include "base/file.h"
#include "object/elf/elf_image.h"

struct elf_image {
	struct file_map map;
	struct tally_bytes bytes;
	uint8_t *owned; /* bytes that were unpacked, else NULL */
	Elf *elf;
	bool swap, is_cut;
	unsigned machine, type;
	const uint64_t *placed; /* of a relocatable file: where each section lies; in the arena */
	size_t placed_count; /* 0: not told yet */
	VEC(struct elf_segment) segments;
	struct elf_build_id build_id;
	struct arena arena;
	uint64_t unpacked_bytes; /* of its sections so far, by all threads: see LIMIT_UNPACKED_SECTIONS */
};

struct elf_symbol_source {
	Elf_Data *data;
	size_t count;
	size_t strings; /* section index of the names */
	bool is_usual; /* as GElf_Sym has them in memory */
	struct tally_bytes names; /* with a NUL at the end; of names elsewhere libelf knows */
};

/* What is known of the versions of .dynsym's symbols. */
struct elf_version {
	const char *name; /* NULL: not known */
	bool is_needed; /* of another file */
};

struct elf_versions {
	struct elf_image *image;
	struct elf_symbol_source table; /* data NULL: there is none */
	Elf_Data *numbers; /* NULL: there are no versions */
	VEC(struct elf_version) names; /* by number */
};

/* False: out of memory. */
bool elf_internal_versions(struct elf_image *image, struct elf_versions *versions);
void elf_internal_versions_deinit(struct elf_versions *versions);
/* Makes "name@@VERSION", with one @ if the version is not the default or the symbol is defined elsewhere; only the name
 * if there is no version. In the image's arena; NULL: out of memory. */
const char *elf_internal_versioned(
	const struct elf_versions *versions, size_t index, const GElf_Sym *symbol, const char *name);
struct elf_relocations { /* of a section */
	Elf_Data *data;
	size_t count;
	bool has_addend;
	bool is_usual; /* as GElf_Rela has them in memory */
};

/* False: the section has none. */
bool elf_internal_relocations(
	const struct elf_image *image, Elf_Scn *section, const GElf_Shdr *header, struct elf_relocations *relocations);
/* False: no such relocation. */
bool elf_internal_relocation(const struct elf_relocations *relocations, size_t index, GElf_Rela *out);

/* A relocation of a slot that the PLT jumps through. */
bool elf_internal_is_jump_slot(const struct elf_image *image, uint64_t type);

/* The image's table of that type (SHT_SYMTAB, SHT_DYNSYM); false if there is none. */
bool elf_internal_symbols(const struct elf_image *image, unsigned type, struct elf_symbol_source *table);
/* Each call of libelf takes a lock, and libraries have thousands of symbols. False: no such symbol. */
bool elf_internal_symbol(const struct elf_symbol_source *table, size_t index, GElf_Sym *symbol);
/* NULL: none. */
const char *elf_internal_symbol_name(
	const struct elf_image *image, const struct elf_symbol_source *table, const GElf_Sym *symbol);
/* The address of a symbol; of a relocatable file by where its sections were placed. */
uint64_t elf_internal_symbol_address(const struct elf_image *image, const GElf_Sym *symbol);
/* Relocates the section of that index, in memory of its own, if the file is relocatable and was placed. NOMEM only. */
TALLY_MUST_CHECK enum tally_status elf_internal_relocate(
	const struct elf_image *image, size_t index, struct elf_section *section, struct tally_error *err);
/* The first section of that name; NULL if there is none. */
Elf_Scn *elf_internal_section(const struct elf_image *image, const char *name, GElf_Shdr *header);
/* The next one of the name behind a section; NULL: the first. */
Elf_Scn *elf_internal_section_after(
	const struct elf_image *image, const char *name, Elf_Scn *section, GElf_Shdr *header);
/* Empty: it has none in the file. */
struct tally_bytes elf_internal_section_bytes(const struct elf_image *image, const GElf_Shdr *header);

#endif
