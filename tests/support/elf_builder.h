/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_builder.h - makes small ELF files in memory for tests, in either class and byte order, with the parts that the
 * caller requests.
 *
 * File offsets and addresses differ, by an amount that is not a multiple of the page size. The writer owns the bytes;
 * the caller frees it.
 *
 *	struct writer w = {0};
 *	elf_builder_make(&(struct elf_builder){.is_64 = true, .symbols = symbols, .symbol_count = 2}, &w);
 */
#ifndef SUPPORT_ELF_BUILDER_H
#define SUPPORT_ELF_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/writer.h"

#define ELF_BUILDER_TEXT_OFFSET UINT64_C(0x240) /* Offset of the only loaded segment. It includes the headers. */
#define ELF_BUILDER_TEXT_VADDR	UINT64_C(0x401b40)
#define ELF_BUILDER_TEXT_SIZE	UINT64_C(0x400)
#define ELF_BUILDER_PLT_OFFSET	(ELF_BUILDER_TEXT_OFFSET + ELF_BUILDER_TEXT_SIZE)
#define ELF_BUILDER_PLT_VADDR	(ELF_BUILDER_TEXT_VADDR + ELF_BUILDER_TEXT_SIZE)
#define ELF_BUILDER_GOT_VADDR	(ELF_BUILDER_TEXT_VADDR + 0x5000)

enum elf_builder_section { /* Section indexes, also used for the section of a symbol. */
	ELF_BUILDER_UNDEFINED,
	ELF_BUILDER_TEXT,
	ELF_BUILDER_PLT,
	ELF_BUILDER_RELA_PLT,
	ELF_BUILDER_NOTE,
	ELF_BUILDER_SYMTAB,
	ELF_BUILDER_STRTAB,
	ELF_BUILDER_DYNSYM,
	ELF_BUILDER_DYNSTR,
	ELF_BUILDER_DEBUGLINK,
	ELF_BUILDER_DEBUGDATA,
	ELF_BUILDER_SDT_NOTES,
	ELF_BUILDER_SDT_BASE,
	ELF_BUILDER_WARNING, /* Section .gnu.warning.*, which is not loaded at run time. */
	ELF_BUILDER_SHSTRTAB,
	ELF_BUILDER_SECTIONS,
	ELF_BUILDER_ABSOLUTE = 0xfff1
};

struct elf_builder_symbol {
	const char *name;
	uint64_t value, size;
	unsigned type, binding, visibility; /* STT_*, STB_* and STV_* values. */
	unsigned section; /* A value of enum elf_builder_section. */
};

struct elf_builder_jump { /* A PLT entry. Entries are in the order of the array. */
	unsigned slot; /* Index of the GOT slot that the entry jumps through. */
	unsigned symbol; /* Index in .dynsym, from 1; 0 for an IRELATIVE entry, whose target the resolver chooses. */
	uint64_t resolver;
};

struct elf_builder {
	bool is_64, is_big;
	unsigned machine; /* EM_* value; 0 for EM_X86_64 or EM_386, by is_64. */
	const struct elf_builder_symbol *symbols; /* Symbols of .symtab; NULL if the file has no .symtab. */
	size_t symbol_count;
	const struct elf_builder_symbol *dynamic; /* Symbols of .dynsym. */
	size_t dynamic_count;
	const struct elf_builder_jump *jumps;
	size_t jump_count;
	struct tally_bytes build_id; /* Of length 0 if the file has no build ID. */
	const char *debuglink; /* File name in .gnu_debuglink; NULL if there is no such section. */
	uint32_t debuglink_crc;
	struct tally_bytes debugdata;
	struct tally_bytes sdt_notes; /* Contents of .note.stapsdt, of length 0 if there is no such section. */
	uint64_t sdt_base; /* Address of .stapsdt.base; 0 if there is no such section. */
};

void elf_builder_make(const struct elf_builder *what, struct writer *out);

#endif
