/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_internal.h - declares the data of an image that the modules of object/elf share; other modules do not include it.
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
	uint8_t *owned; /* Buffer of decompressed bytes; NULL if the file is not compressed. */
	Elf *elf;
	bool swap, is_cut;
	unsigned machine, type;
	const uint64_t *placed; /* Address of each section of a relocatable file; in the arena. */
	size_t placed_count; /* 0 until the addresses are set. */
	VEC(struct elf_segment) segments;
	struct elf_build_id build_id;
	struct arena arena;
	/* Number of bytes decompressed from its sections so far, by all threads; see LIMIT_UNPACKED_SECTIONS. */
	uint64_t unpacked_bytes;
};

struct elf_symbol_source {
	Elf_Data *data;
	size_t count;
	size_t strings; /* Index of the string section with the names. */
	bool is_usual; /* The table has the memory layout of GElf_Sym, so that libelf is not needed to read it. */
	struct tally_bytes names; /* The string section, which ends in a NUL; names outside of it are read by libelf. */
};

/* A symbol version of .dynsym. */
struct elf_version {
	const char *name; /* NULL if not known. */
	bool is_needed; /* It is a version of another file's symbols. */
};

struct elf_versions {
	struct elf_image *image;
	struct elf_symbol_source table; /* data is NULL if there is no .dynsym. */
	Elf_Data *numbers; /* NULL if there are no versions. */
	VEC(struct elf_version) names; /* Indexed by version number. */
};

/* Reads the versions. Returns false if memory runs out. */
bool elf_internal_versions(struct elf_image *image, struct elf_versions *versions);
void elf_internal_versions_deinit(struct elf_versions *versions);
/* Returns "name@@VERSION", with one @ if the version is not the default or the symbol is defined elsewhere; only the
 * name if there is no version. The result is in the image's arena; NULL if memory runs out. */
const char *elf_internal_versioned(
	const struct elf_versions *versions, size_t index, const GElf_Sym *symbol, const char *name);
/* The relocations of a section. */
struct elf_relocations {
	Elf_Data *data;
	size_t count;
	bool has_addend;
	bool is_usual; /* The table has the memory layout of GElf_Rela, so that libelf is not needed to read it. */
};

/* Returns false if the section has no relocations. */
bool elf_internal_relocations(
	const struct elf_image *image, Elf_Scn *section, const GElf_Shdr *header, struct elf_relocations *relocations);
/* Reads a relocation. Returns false if there is none with this index. */
bool elf_internal_relocation(const struct elf_relocations *relocations, size_t index, GElf_Rela *out);

/* Returns whether relocations of this type are for slots through which the PLT jumps. */
bool elf_internal_is_jump_slot(const struct elf_image *image, uint64_t type);

/* Finds the image's table of that type (SHT_SYMTAB, SHT_DYNSYM); returns false if there is none. */
bool elf_internal_symbols(const struct elf_image *image, unsigned type, struct elf_symbol_source *table);
/* Reads a symbol, without libelf if possible: each of its calls takes a lock, and libraries have thousands of symbols.
 * Returns false if there is none with this index. */
bool elf_internal_symbol(const struct elf_symbol_source *table, size_t index, GElf_Sym *symbol);
/* Returns NULL if the symbol has no name. */
const char *elf_internal_symbol_name(
	const struct elf_image *image, const struct elf_symbol_source *table, const GElf_Sym *symbol);
/* Returns the address of a symbol; in a relocatable file, it depends on the addresses set for the sections. */
uint64_t elf_internal_symbol_address(const struct elf_image *image, const GElf_Sym *symbol);
/* Relocates the section with that index, in a separate buffer, if the file is relocatable and has section addresses.
 * NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status elf_internal_relocate(
	const struct elf_image *image, size_t index, struct elf_section *section, struct tally_error *err);
/* Returns the first section with that name; NULL if there is none. */
Elf_Scn *elf_internal_section(const struct elf_image *image, const char *name, GElf_Shdr *header);
/* Returns the next section with that name after section; the first one if section is NULL. */
Elf_Scn *elf_internal_section_after(
	const struct elf_image *image, const char *name, Elf_Scn *section, GElf_Shdr *header);
/* Returns the bytes of a section; empty if it has none in the file. */
struct tally_bytes elf_internal_section_bytes(const struct elf_image *image, const GElf_Shdr *header);

#endif
