/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_builder.h - makes small ELF files in memory for tests: either class, either byte order, with the parts asked for.
 *
 * Offsets and addresses differ, and not by a multiple of the page size. The writer owns the bytes; the caller frees it.
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

#define ELF_BUILDER_TEXT_OFFSET UINT64_C(0x240) /* the one loaded segment: the headers are in it */
#define ELF_BUILDER_TEXT_VADDR	UINT64_C(0x401b40)
#define ELF_BUILDER_TEXT_SIZE	UINT64_C(0x400)
#define ELF_BUILDER_PLT_OFFSET	(ELF_BUILDER_TEXT_OFFSET + ELF_BUILDER_TEXT_SIZE)
#define ELF_BUILDER_PLT_VADDR	(ELF_BUILDER_TEXT_VADDR + ELF_BUILDER_TEXT_SIZE)
#define ELF_BUILDER_GOT_VADDR	(ELF_BUILDER_TEXT_VADDR + 0x5000)

enum elf_builder_section { /* index of the section, and what a symbol is in */
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
	ELF_BUILDER_WARNING, /* not in memory at run time */
	ELF_BUILDER_SHSTRTAB,
	ELF_BUILDER_SECTIONS,
	ELF_BUILDER_ABSOLUTE = 0xfff1
};

struct elf_builder_symbol {
	const char *name;
	uint64_t value, size;
	unsigned type, binding, visibility; /* STT_*, STB_*, STV_* */
	unsigned section; /* enum elf_builder_section */
};

struct elf_builder_jump { /* a PLT entry, in the order of entries */
	unsigned slot; /* which GOT slot it jumps through */
	unsigned symbol; /* index in .dynsym, from 1; 0: chosen by the code at resolver */
	uint64_t resolver;
};

struct elf_builder {
	bool is_64, is_big;
	unsigned machine; /* EM_*; 0: EM_X86_64 or EM_386 */
	const struct elf_builder_symbol *symbols; /* of .symtab; NULL: the file has none */
	size_t symbol_count;
	const struct elf_builder_symbol *dynamic; /* of .dynsym */
	size_t dynamic_count;
	const struct elf_builder_jump *jumps;
	size_t jump_count;
	struct tally_bytes build_id; /* len 0: none */
	const char *debuglink; /* NULL: none */
	uint32_t debuglink_crc;
	struct tally_bytes debugdata;
	struct tally_bytes sdt_notes; /* of .note.stapsdt; len 0: none */
	uint64_t sdt_base; /* address of .stapsdt.base; 0: none */
};

void elf_builder_make(const struct elf_builder *what, struct writer *out);

#endif
