/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/elf_function.h"

#include <elf.h>
#include <string.h>

#define BUILD_ID_BYTES	   20
#define EH_FRAME_ALIGNMENT 8
#define HASH_OFFSET	   UINT64_C(0xcbf29ce484222325) /* Parameters of the FNV-1a hash. */
#define HASH_FACTOR	   UINT64_C(0x100000001b3)
#define DWARF_VERSION	   4
#define OPCODE_BASE	   10 /* Below it are the nine standard opcodes of DWARF 2; special opcodes are not used. */
#define TAG_COMPILE_UNIT   0x11
#define AT_STMT_LIST	   0x10
#define AT_LOW_PC	   0x11
#define AT_HIGH_PC	   0x12
#define FORM_ADDR	   0x01
#define FORM_DATA8	   0x07
#define FORM_SEC_OFFSET	   0x17

enum line_opcode { LINE_EXTENDED, LINE_COPY, LINE_ADVANCE_PC, LINE_ADVANCE_LINE, LINE_SET_FILE };
enum extended_opcode { EXTENDED_END = 1, EXTENDED_SET_ADDRESS = 2 };

enum section_index {
	NO_SECTION,
	TEXT,
	EH_FRAME,
	EH_FRAME_HDR,
	SYMTAB,
	STRTAB,
	NOTE,
	DEBUG_LINE,
	DEBUG_INFO,
	DEBUG_ABBREV,
	SHSTRTAB,
	SECTION_COUNT
};

static const struct section_kind {
	const char *name;
	uint32_t type;
	uint64_t flags, alignment, entry_size;
	uint32_t link, info;
} kinds[SECTION_COUNT] = {
	[NO_SECTION] = {.name = ""},
	[TEXT] = {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 16, 0, 0, 0},
	[EH_FRAME] = {".eh_frame", SHT_PROGBITS, SHF_ALLOC, EH_FRAME_ALIGNMENT, 0, 0, 0},
	[EH_FRAME_HDR] = {".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, 1, 0, 0, 0},
	[SYMTAB] = {".symtab", SHT_SYMTAB, 0, 8, sizeof(Elf64_Sym), STRTAB, 1},
	[STRTAB] = {".strtab", SHT_STRTAB, 0, 1, 0, 0, 0},
	[NOTE] = {".note.gnu.build-id", SHT_NOTE, 0, 4, 0, 0, 0},
	[DEBUG_LINE] = {".debug_line", SHT_PROGBITS, 0, 1, 0, 0, 0},
	[DEBUG_INFO] = {".debug_info", SHT_PROGBITS, 0, 1, 0, 0, 0},
	[DEBUG_ABBREV] = {".debug_abbrev", SHT_PROGBITS, 0, 1, 0, 0, 0},
	[SHSTRTAB] = {".shstrtab", SHT_STRTAB, 0, 1, 0, 0, 0},
};

struct elf_function_layout {
	struct writer *w;
	const struct elf_function *f;
	uint64_t offsets[SECTION_COUNT], sizes[SECTION_COUNT];
};

static void elf_function_begin(struct elf_function_layout *l, enum section_index section)
{
	writer_align(l->w, kinds[section].alignment);
	l->offsets[section] = l->w->len;
}

static void elf_function_end(struct elf_function_layout *l, enum section_index section)
{
	l->sizes[section] = l->w->len - l->offsets[section];
}

static void elf_function_put_text(struct writer *w, const char *text)
{
	writer_bytes(w, text, strlen(text) + 1);
}

static void elf_function_put_section(
	struct elf_function_layout *l, enum section_index section, struct tally_bytes bytes)
{
	elf_function_begin(l, section);
	writer_bytes(l->w, bytes.data, bytes.len);
	elf_function_end(l, section);
}

static void put_uleb(struct writer *w, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		writer_u8(w, (uint8_t)(value | 0x80));
	writer_u8(w, (uint8_t)value);
}

static void put_sleb(struct writer *w, int64_t value)
{
	for (; value < -0x40 || value > 0x3f; value >>= 7)
		writer_u8(w, (uint8_t)(value | 0x80));
	writer_u8(w, (uint8_t)(value & 0x7f));
}

/* The offset of the section header table is patched when it is known. */
static void put_file_header(struct writer *w, const struct elf_function *f)
{
	const uint16_t one = 1;
	bool host_is_big = *(const uint8_t *)&one == 0, is_big = host_is_big != f->is_swapped;
	const uint8_t ident[EI_NIDENT] = {
		ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, is_big ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT};
	writer_bytes(w, ident, sizeof(ident));
	writer_u16(w, ET_DYN);
	writer_u16(w, f->machine);
	writer_u32(w, EV_CURRENT);
	writer_u64(w, ELF_FUNCTION_CODE_OFFSET);
	writer_u64(w, sizeof(Elf64_Ehdr));
	writer_u64(w, 0);
	writer_u32(w, 0);
	writer_u16(w, sizeof(Elf64_Ehdr));
	writer_u16(w, sizeof(Elf64_Phdr));
	writer_u16(w, 1);
	writer_u16(w, sizeof(Elf64_Shdr));
	writer_u16(w, SECTION_COUNT);
	writer_u16(w, SHSTRTAB);
}

static void put_segment(struct writer *w, const struct elf_function *f)
{
	uint64_t size = f->code.len;
	if (f->eh_frame.len)
		size = (size + EH_FRAME_ALIGNMENT - 1) / EH_FRAME_ALIGNMENT * EH_FRAME_ALIGNMENT + f->eh_frame.len +
		       f->eh_frame_header.len;
	writer_u32(w, PT_LOAD);
	writer_u32(w, PF_R | PF_X);
	for (int i = 0; i < 3; i++) /* Offset, virtual address and physical address. */
		writer_u64(w, ELF_FUNCTION_CODE_OFFSET);
	writer_u64(w, size);
	writer_u64(w, size);
	writer_u64(w, EH_FRAME_ALIGNMENT);
}

static void elf_function_put_symbols(struct elf_function_layout *l)
{
	elf_function_begin(l, SYMTAB);
	writer_zeros(l->w, sizeof(Elf64_Sym));
	writer_u32(l->w, 1); /* Offset of the name, after the empty one. */
	writer_u8(l->w, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
	writer_u8(l->w, STV_DEFAULT);
	writer_u16(l->w, TEXT);
	writer_u64(l->w, ELF_FUNCTION_CODE_OFFSET);
	writer_u64(l->w, l->f->code.len);
	elf_function_end(l, SYMTAB);
	elf_function_begin(l, STRTAB);
	writer_u8(l->w, 0);
	elf_function_put_text(l->w, l->f->name);
	elf_function_end(l, STRTAB);
}

static uint64_t elf_function_hash(uint64_t seed, const void *data, size_t len)
{
	const uint8_t *bytes = data;
	for (size_t i = 0; i < len; i++)
		seed = (seed ^ bytes[i]) * HASH_FACTOR;
	return seed;
}

/* The build ID depends on name and code, so that caches by build ID distinguish functions. */
static void elf_function_put_build_id(struct elf_function_layout *l)
{
	const struct elf_function *f = l->f;
	uint64_t seed = HASH_OFFSET;
	elf_function_begin(l, NOTE);
	writer_u32(l->w, sizeof(ELF_NOTE_GNU));
	writer_u32(l->w, BUILD_ID_BYTES);
	writer_u32(l->w, NT_GNU_BUILD_ID);
	writer_bytes(l->w, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU));
	uint8_t id[BUILD_ID_BYTES + sizeof(seed)];
	for (size_t i = 0; i < BUILD_ID_BYTES; i += sizeof(seed)) {
		seed = elf_function_hash(
			elf_function_hash(seed, f->name, strlen(f->name) + 1), f->code.data, f->code.len);
		memcpy(id + i, &seed, sizeof(seed));
	}
	writer_bytes(l->w, id, BUILD_ID_BYTES);
	elf_function_end(l, NOTE);
}

static void patch_length(struct writer *w, size_t at)
{
	if (!w->failed)
		writer_patch_u32(w, at, (uint32_t)(w->len - at - sizeof(uint32_t)));
}

/* Each change of the path in the rows begins a new file, so paths may be repeated. */
static bool begins_file(const struct elf_function *f, size_t i)
{
	return i == 0 || strcmp(f->lines[i].path, f->lines[i - 1].path) != 0;
}

static void put_line_header(struct elf_function_layout *l)
{
	static const uint8_t operands[OPCODE_BASE - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1};
	struct writer *w = l->w;
	writer_u16(w, DWARF_VERSION);
	size_t header = w->len;
	writer_u32(w, 0);
	writer_u8(w, 1); /* Minimum instruction length. */
	writer_u8(w, 1); /* Maximum operations per instruction. */
	writer_u8(w, 1); /* Rows are statements by default. */
	writer_u8(w, 0); /* Line base and line range of special opcodes, which are not used. */
	writer_u8(w, 1);
	writer_u8(w, OPCODE_BASE);
	writer_bytes(w, operands, sizeof(operands));
	writer_u8(w, 0); /* There are no directories. */
	for (size_t i = 0; i < l->f->line_count; i++) {
		if (!begins_file(l->f, i))
			continue;
		elf_function_put_text(w, l->f->lines[i].path);
		writer_zeros(w, 3); /* Directory, modification time and size. */
	}
	writer_u8(w, 0);
	patch_length(w, header);
}

static void elf_function_put_rows(struct elf_function_layout *l)
{
	struct writer *w = l->w;
	uint64_t file = 0, offset = 0;
	int64_t line = 1;
	writer_u8(w, LINE_EXTENDED);
	put_uleb(w, 1 + sizeof(uint64_t));
	writer_u8(w, EXTENDED_SET_ADDRESS);
	writer_u64(w, ELF_FUNCTION_CODE_OFFSET);
	for (size_t i = 0; i < l->f->line_count; i++) {
		const struct elf_function_line *row = &l->f->lines[i];
		if (begins_file(l->f, i)) {
			writer_u8(w, LINE_SET_FILE);
			put_uleb(w, ++file);
		}
		writer_u8(w, LINE_ADVANCE_PC);
		put_uleb(w, row->offset - offset);
		writer_u8(w, LINE_ADVANCE_LINE);
		put_sleb(w, row->line - line);
		writer_u8(w, LINE_COPY);
		offset = row->offset;
		line = row->line;
	}
	writer_u8(w, LINE_ADVANCE_PC);
	put_uleb(w, l->f->code.len - offset);
	writer_u8(w, LINE_EXTENDED);
	put_uleb(w, 1);
	writer_u8(w, EXTENDED_END);
}

static void elf_function_put_lines(struct elf_function_layout *l)
{
	static const uint8_t abbreviation[] = {1, TAG_COMPILE_UNIT, 0, AT_STMT_LIST, FORM_SEC_OFFSET, AT_LOW_PC,
		FORM_ADDR, AT_HIGH_PC, FORM_DATA8, 0, 0, 0};
	struct writer *w = l->w;
	elf_function_begin(l, DEBUG_LINE);
	size_t at = w->len;
	writer_u32(w, 0);
	put_line_header(l);
	elf_function_put_rows(l);
	patch_length(w, at);
	elf_function_end(l, DEBUG_LINE);
	elf_function_begin(l, DEBUG_INFO);
	at = w->len;
	writer_u32(w, 0);
	writer_u16(w, DWARF_VERSION);
	writer_u32(w, 0); /* Offset in .debug_abbrev. */
	writer_u8(w, sizeof(uint64_t));
	put_uleb(w, 1);
	writer_u32(w, 0); /* Offset in .debug_line. */
	writer_u64(w, ELF_FUNCTION_CODE_OFFSET);
	writer_u64(w, l->f->code.len);
	patch_length(w, at);
	elf_function_end(l, DEBUG_INFO);
	elf_function_put_section(l, DEBUG_ABBREV, (struct tally_bytes){abbreviation, sizeof(abbreviation)});
}

/* Sections that the function does not need have a null header, so that section indexes do not change. */
static void put_section_headers(struct elf_function_layout *l)
{
	struct writer *w = l->w;
	uint32_t name = 0;
	writer_align(w, sizeof(uint64_t));
	uint64_t table = w->len;
	for (enum section_index i = NO_SECTION; i < SECTION_COUNT; i++) {
		const struct section_kind *kind = &kinds[i];
		bool has_address = kind->flags & SHF_ALLOC;
		if (i != NO_SECTION && l->sizes[i] > 0) {
			writer_u32(w, name);
			writer_u32(w, kind->type);
			writer_u64(w, kind->flags);
			writer_u64(w, has_address ? l->offsets[i] : 0);
			writer_u64(w, l->offsets[i]);
			writer_u64(w, l->sizes[i]);
			writer_u32(w, kind->link);
			writer_u32(w, kind->info);
			writer_u64(w, kind->alignment);
			writer_u64(w, kind->entry_size);
		} else {
			writer_zeros(w, sizeof(Elf64_Shdr));
		}
		name += (uint32_t)strlen(kind->name) + 1;
	}
	if (!w->failed)
		writer_patch_u64(w, offsetof(Elf64_Ehdr, e_shoff), table);
}

void elf_function_write(struct writer *w, const struct elf_function *function)
{
	struct elf_function_layout l = {.w = w, .f = function};
	w->swap = function->is_swapped;
	put_file_header(w, function);
	put_segment(w, function);
	writer_zeros(w, ELF_FUNCTION_CODE_OFFSET - sizeof(Elf64_Ehdr) - sizeof(Elf64_Phdr));
	elf_function_put_section(&l, TEXT, function->code);
	if (function->eh_frame.len) {
		elf_function_put_section(&l, EH_FRAME, function->eh_frame);
		if (function->eh_frame_header.len)
			elf_function_put_section(&l, EH_FRAME_HDR, function->eh_frame_header);
	}
	elf_function_put_symbols(&l);
	elf_function_put_build_id(&l);
	if (function->line_count)
		elf_function_put_lines(&l);
	elf_function_begin(&l, SHSTRTAB);
	for (enum section_index i = NO_SECTION; i < SECTION_COUNT; i++)
		elf_function_put_text(w, kinds[i].name);
	elf_function_end(&l, SHSTRTAB);
	put_section_headers(&l);
}
