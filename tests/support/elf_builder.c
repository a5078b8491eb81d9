/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_builder.h"

#include <elf.h>
#include <string.h>

struct section {
	const char *name;
	uint32_t type, link;
	uint64_t flags, address, offset, size, entry_size;
};

struct build {
	const struct elf_builder *what;
	struct writer *out;
	struct section sections[ELF_BUILDER_SECTIONS];
};

static const char *const section_names[ELF_BUILDER_SECTIONS] = {"", ".text", ".plt", ".rela.plt", ".note.gnu.build-id",
	".symtab", ".strtab", ".dynsym", ".dynstr", ".gnu_debuglink", ".gnu_debugdata", ".note.stapsdt",
	".stapsdt.base", ".gnu.warning.gets", ".shstrtab"};

static void word(struct build *b, uint64_t value)
{
	if (b->what->is_64)
		writer_u64(b->out, value);
	else
		writer_u32(b->out, (uint32_t)value);
}

static void begin(struct build *b, enum elf_builder_section index, uint32_t type)
{
	writer_align(b->out, 8);
	b->sections[index].type = type;
	b->sections[index].offset = b->out->len;
}

static void end(struct build *b, enum elf_builder_section index)
{
	b->sections[index].size = b->out->len - b->sections[index].offset;
}

static unsigned machine(const struct elf_builder *what)
{
	return what->machine ? what->machine : what->is_64 ? EM_X86_64 : EM_386;
}

static void file_header(struct build *b)
{
	const uint8_t ident[EI_NIDENT] = {0x7f, 'E', 'L', 'F', b->what->is_64 ? ELFCLASS64 : ELFCLASS32,
		b->what->is_big ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT};
	bool is_64 = b->what->is_64;
	writer_bytes(b->out, ident, sizeof(ident));
	writer_u16(b->out, ET_DYN);
	writer_u16(b->out, (uint16_t)machine(b->what));
	writer_u32(b->out, EV_CURRENT);
	word(b, ELF_BUILDER_TEXT_VADDR);
	word(b, is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
	word(b, 0); /* Offset of the section headers, patched at the end. */
	writer_u32(b->out, 0);
	writer_u16(b->out, is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
	writer_u16(b->out, is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
	writer_u16(b->out, 1);
	writer_u16(b->out, is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
	writer_u16(b->out, ELF_BUILDER_SECTIONS);
	writer_u16(b->out, ELF_BUILDER_SHSTRTAB);
}

static void load_segment(struct build *b)
{
	const uint64_t size = ELF_BUILDER_PLT_OFFSET + 0x200;
	const uint64_t vaddr = ELF_BUILDER_TEXT_VADDR - ELF_BUILDER_TEXT_OFFSET;
	writer_u32(b->out, PT_LOAD);
	if (b->what->is_64)
		writer_u32(b->out, PF_R | PF_X);
	word(b, 0);
	word(b, vaddr);
	word(b, vaddr);
	word(b, size);
	word(b, size);
	if (!b->what->is_64)
		writer_u32(b->out, PF_R | PF_X);
	word(b, 0x20);
}

static void add_symbol(struct build *b, const struct elf_builder_symbol *symbol, uint32_t name)
{
	uint8_t info = (uint8_t)(symbol->binding << 4 | symbol->type);
	writer_u32(b->out, name);
	if (b->what->is_64) {
		writer_u8(b->out, info);
		writer_u8(b->out, (uint8_t)symbol->visibility);
		writer_u16(b->out, (uint16_t)symbol->section);
	}
	word(b, symbol->value);
	word(b, symbol->size);
	if (!b->what->is_64) {
		writer_u8(b->out, info);
		writer_u8(b->out, (uint8_t)symbol->visibility);
		writer_u16(b->out, (uint16_t)symbol->section);
	}
}

static void symbol_table(
	struct build *b, const struct elf_builder_symbol *symbols, size_t count, enum elf_builder_section index)
{
	if (!symbols)
		return;
	enum elf_builder_section names = index + 1;
	const struct elf_builder_symbol none = {0};
	uint32_t at = 1;
	begin(b, index, index == ELF_BUILDER_SYMTAB ? SHT_SYMTAB : SHT_DYNSYM);
	b->sections[index].link = names;
	b->sections[index].entry_size = b->what->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	add_symbol(b, &none, 0);
	for (size_t i = 0; i < count; i++) {
		add_symbol(b, &symbols[i], symbols[i].name ? at : 0);
		at += symbols[i].name ? (uint32_t)strlen(symbols[i].name) + 1 : 0;
	}
	end(b, index);
	begin(b, names, SHT_STRTAB);
	writer_u8(b->out, 0);
	for (size_t i = 0; i < count; i++)
		if (symbols[i].name)
			writer_bytes(b->out, symbols[i].name, strlen(symbols[i].name) + 1);
	end(b, names);
}

static void write_le32(struct writer *out, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		writer_u8(out, (uint8_t)(value >> 8 * i));
}

/* The first entry is "push GOT[1]; jmp *GOT[2]; nop", each further one "jmp *slot; push n; jmp first". */
static void plt(struct build *b)
{
	const struct elf_builder *what = b->what;
	if (what->jump_count == 0)
		return;
	begin(b, ELF_BUILDER_PLT, SHT_PROGBITS);
	const uint8_t header[16] = {0xff, 0x35, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0, 0x0f, 0x1f, 0x40, 0};
	writer_bytes(b->out, header, sizeof(header));
	for (size_t i = 0; i < what->jump_count; i++) {
		uint64_t slot = ELF_BUILDER_GOT_VADDR + 8 * what->jumps[i].slot;
		uint64_t next = ELF_BUILDER_PLT_VADDR + 16 * (i + 1) + 6;
		writer_u8(b->out, 0xff);
		writer_u8(b->out, 0x25);
		write_le32(b->out, (uint32_t)(what->is_64 ? slot - next : slot));
		writer_zeros(b->out, 10);
	}
	if (machine(what) == EM_AARCH64)
		writer_zeros(b->out, 16); /* The first entry has 32 bytes on AArch64. */
	end(b, ELF_BUILDER_PLT);
	b->sections[ELF_BUILDER_PLT].entry_size = 16;
}

static void relocations(struct build *b)
{
	const struct elf_builder *what = b->what;
	if (what->jump_count == 0)
		return;
	unsigned jump = machine(what) == EM_AARCH64 ? R_AARCH64_JUMP_SLOT : R_X86_64_JUMP_SLOT;
	unsigned chosen = machine(what) == EM_X86_64 ? R_X86_64_IRELATIVE
			  : machine(what) == EM_386  ? R_386_IRELATIVE
						     : R_AARCH64_IRELATIVE;
	begin(b, ELF_BUILDER_RELA_PLT, SHT_RELA);
	for (size_t i = 0; i < what->jump_count; i++) {
		const struct elf_builder_jump *from = &what->jumps[i];
		uint64_t type = from->symbol ? jump : chosen;
		word(b, ELF_BUILDER_GOT_VADDR + 8 * from->slot);
		word(b, what->is_64 ? (uint64_t)from->symbol << 32 | type : (uint64_t)from->symbol << 8 | type);
		word(b, from->resolver);
	}
	end(b, ELF_BUILDER_RELA_PLT);
	b->sections[ELF_BUILDER_RELA_PLT].link = ELF_BUILDER_DYNSYM;
	b->sections[ELF_BUILDER_RELA_PLT].entry_size = what->is_64 ? sizeof(Elf64_Rela) : sizeof(Elf32_Rela);
}

static void other_sections(struct build *b)
{
	const struct elf_builder *what = b->what;
	if (what->build_id.len > 0) {
		begin(b, ELF_BUILDER_NOTE, SHT_NOTE);
		writer_u32(b->out, 4);
		writer_u32(b->out, (uint32_t)what->build_id.len);
		writer_u32(b->out, 3); /* NT_GNU_BUILD_ID */
		writer_bytes(b->out, "GNU", 4);
		writer_bytes(b->out, what->build_id.data, what->build_id.len);
		writer_align(b->out, 4);
		end(b, ELF_BUILDER_NOTE);
	}
	if (what->debuglink) {
		begin(b, ELF_BUILDER_DEBUGLINK, SHT_PROGBITS);
		writer_bytes(b->out, what->debuglink, strlen(what->debuglink) + 1);
		writer_align(b->out, 4);
		writer_u32(b->out, what->debuglink_crc);
		end(b, ELF_BUILDER_DEBUGLINK);
	}
	if (what->debugdata.len > 0) {
		begin(b, ELF_BUILDER_DEBUGDATA, SHT_PROGBITS);
		writer_bytes(b->out, what->debugdata.data, what->debugdata.len);
		end(b, ELF_BUILDER_DEBUGDATA);
	}
	if (what->sdt_notes.len > 0) {
		begin(b, ELF_BUILDER_SDT_NOTES, SHT_NOTE);
		writer_bytes(b->out, what->sdt_notes.data, what->sdt_notes.len);
		end(b, ELF_BUILDER_SDT_NOTES);
	}
	if (what->sdt_base) {
		begin(b, ELF_BUILDER_SDT_BASE, SHT_PROGBITS);
		writer_u8(b->out, 0);
		end(b, ELF_BUILDER_SDT_BASE);
		b->sections[ELF_BUILDER_SDT_BASE].flags = SHF_ALLOC;
		b->sections[ELF_BUILDER_SDT_BASE].address = what->sdt_base;
	}
	begin(b, ELF_BUILDER_WARNING, SHT_PROGBITS);
	writer_bytes(b->out, "do not", 7);
	end(b, ELF_BUILDER_WARNING);
}

static void section_headers(struct build *b)
{
	uint32_t names[ELF_BUILDER_SECTIONS];
	begin(b, ELF_BUILDER_SHSTRTAB, SHT_STRTAB);
	for (size_t i = 0; i < ELF_BUILDER_SECTIONS; i++) {
		names[i] = (uint32_t)(b->out->len - b->sections[ELF_BUILDER_SHSTRTAB].offset);
		writer_bytes(b->out, section_names[i], strlen(section_names[i]) + 1);
	}
	end(b, ELF_BUILDER_SHSTRTAB);
	writer_align(b->out, 8);
	uint64_t start = b->out->len;
	for (size_t i = 0; i < ELF_BUILDER_SECTIONS; i++) {
		const struct section *section = &b->sections[i];
		writer_u32(b->out, names[i]);
		writer_u32(b->out, section->type);
		word(b, section->flags);
		word(b, section->address);
		word(b, section->offset);
		word(b, section->size);
		writer_u32(b->out, section->link);
		writer_u32(b->out, 0);
		word(b, 8);
		word(b, section->entry_size);
	}
	if (b->what->is_64)
		writer_patch_u64(b->out, offsetof(Elf64_Ehdr, e_shoff), start);
	else
		writer_patch_u32(b->out, offsetof(Elf32_Ehdr, e_shoff), (uint32_t)start);
}

void elf_builder_make(const struct elf_builder *what, struct writer *out)
{
	uint16_t probe = 1;
	bool host_is_big = *(const uint8_t *)&probe == 0;
	struct build b = {.what = what, .out = out};
	out->swap = what->is_big != host_is_big;
	file_header(&b);
	load_segment(&b);
	writer_zeros(out, ELF_BUILDER_TEXT_OFFSET - out->len);
	begin(&b, ELF_BUILDER_TEXT, SHT_PROGBITS);
	writer_zeros(out, ELF_BUILDER_TEXT_SIZE);
	end(&b, ELF_BUILDER_TEXT);
	plt(&b);
	b.sections[ELF_BUILDER_TEXT].flags = SHF_ALLOC | SHF_EXECINSTR;
	b.sections[ELF_BUILDER_TEXT].address = ELF_BUILDER_TEXT_VADDR;
	b.sections[ELF_BUILDER_PLT].flags = SHF_ALLOC | SHF_EXECINSTR;
	b.sections[ELF_BUILDER_PLT].address = ELF_BUILDER_PLT_VADDR;
	writer_zeros(out, ELF_BUILDER_PLT_OFFSET + 0x200 - out->len);
	relocations(&b);
	symbol_table(&b, what->dynamic, what->dynamic_count, ELF_BUILDER_DYNSYM);
	symbol_table(&b, what->symbols, what->symbol_count, ELF_BUILDER_SYMTAB);
	other_sections(&b);
	section_headers(&b);
}
