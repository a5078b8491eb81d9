/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_plt.c - finds the function that each entry of the procedure linkage table jumps to.
 *
 * An x86 entry is decoded: its jump names a GOT slot, and a relocation names that slot's function, whatever the order
 * of the two. On other machines the entries have the order of their slots.
 */
#include <string.h>

#include "base/array.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/key_sort.h"
#include "base/limits.h"
#include "base/order.h"
#include "object/elf/elf_internal.h"

/* Some versions of elf.h lack these; the numbers are from the processor supplements of the ELF specification. */
#ifndef R_AARCH64_IRELATIVE
#define R_AARCH64_IRELATIVE 1032
#endif
#ifndef R_RISCV_IRELATIVE
#define R_RISCV_IRELATIVE 58
#endif
#ifndef R_390_IRELATIVE
#define R_390_IRELATIVE 61
#endif

struct slot { /* A GOT entry that is set by a relocation. */
	uint64_t address;
	uint64_t symbol; /* Index in .dynsym; 0 if the slot is set by a resolver. */
	uint64_t resolver;
};

struct slots {
	VEC(struct slot) slots;
};

struct plt_shape { /* The layout of the PLT on machines where entries are not decoded. */
	unsigned machine;
	uint64_t header_bytes, entry_bytes;
};

static const struct plt_shape plt_shapes[] = {
	{EM_AARCH64, 32, 16},
	{EM_ARM, 20, 12},
	{EM_RISCV, 32, 16},
	{EM_S390, 32, 32},
};

struct relocation_types {
	unsigned machine;
	uint32_t glob_dat, jump_slot, irelative;
};

static const struct relocation_types relocation_types[] = {
	{EM_X86_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_IRELATIVE},
	{EM_386, R_386_GLOB_DAT, R_386_JMP_SLOT, R_386_IRELATIVE},
	{EM_AARCH64, R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT, R_AARCH64_IRELATIVE},
	{EM_ARM, R_ARM_GLOB_DAT, R_ARM_JUMP_SLOT, R_ARM_IRELATIVE},
	{EM_RISCV, R_RISCV_JUMP_SLOT, R_RISCV_JUMP_SLOT, R_RISCV_IRELATIVE},
	{EM_S390, R_390_GLOB_DAT, R_390_JMP_SLOT, R_390_IRELATIVE},
};

static const struct relocation_types *types_of(unsigned machine)
{
	for (size_t i = 0; i < ARRAY_LEN(relocation_types); i++)
		if (relocation_types[i].machine == machine)
			return &relocation_types[i];
	return NULL;
}

bool elf_internal_is_jump_slot(const struct elf_image *image, uint64_t type)
{
	const struct relocation_types *types = types_of(image->machine);
	return types && type == types->jump_slot;
}

bool elf_internal_relocations(
	const struct elf_image *image, Elf_Scn *section, const GElf_Shdr *header, struct elf_relocations *relocations)
{
	bool is_of_kind = (header->sh_type == SHT_RELA || header->sh_type == SHT_REL) && header->sh_entsize > 0;
	Elf_Data *data = is_of_kind ? elf_getdata(section, NULL) : NULL;
	if (!data)
		return false;
	*relocations = (struct elf_relocations){.data = data,
		.count = data->d_size / (size_t)header->sh_entsize,
		.has_addend = header->sh_type == SHT_RELA,
		.is_usual = gelf_getclass(image->elf) == ELFCLASS64 && data->d_type == ELF_T_RELA && data->d_buf};
	return true;
}

/* Copies common relocations directly: libraries have thousands, and each call of libelf takes a lock. */
bool elf_internal_relocation(const struct elf_relocations *from, size_t index, GElf_Rela *out)
{
	GElf_Rel plain;
	if (index > INT32_MAX)
		return false;
	if (from->has_addend && from->is_usual) {
		if (index >= from->data->d_size / sizeof(*out))
			return false;
		memcpy(out, (const uint8_t *)from->data->d_buf + index * sizeof(*out), sizeof(*out));
		return true;
	}
	if (from->has_addend)
		return gelf_getrela(from->data, (int)index, out) != NULL;
	if (!gelf_getrel(from->data, (int)index, &plain))
		return false;
	*out = (GElf_Rela){.r_offset = plain.r_offset, .r_info = plain.r_info};
	return true;
}

/* Without addends, the slot itself contains the resolver's address. */
static uint64_t value_in_slot(const struct elf_image *image, uint64_t vaddr)
{
	for (size_t i = 0; i < image->segments.len; i++) {
		const struct elf_segment *segment = &image->segments.items[i];
		if (vaddr < segment->vaddr || vaddr - segment->vaddr >= segment->file_size)
			continue;
		uint64_t offset = vaddr - segment->vaddr + segment->offset;
		if (offset > image->bytes.len)
			return 0;
		struct tally_bytes rest = {image->bytes.data + offset, image->bytes.len - (size_t)offset};
		struct cursor c = cursor_make(rest, image->swap);
		return gelf_getclass(image->elf) == ELFCLASS32 ? cursor_u32(&c) : cursor_u64(&c);
	}
	return 0;
}

static bool elf_plt_add_slots(
	const struct elf_image *image, const struct elf_relocations *relocations, struct slots *slots)
{
	const struct relocation_types *types = types_of(image->machine);
	GElf_Rela relocation;
	if (!types)
		return true;
	for (size_t i = 0; i < relocations->count && elf_internal_relocation(relocations, i, &relocation); i++) {
		uint64_t type = GELF_R_TYPE(relocation.r_info);
		struct slot slot = {.address = relocation.r_offset, .symbol = GELF_R_SYM(relocation.r_info)};
		if (type == types->irelative) {
			slot.symbol = 0;
			slot.resolver = relocations->has_addend ? (uint64_t)relocation.r_addend
								: value_in_slot(image, relocation.r_offset);
		} else if ((type != types->jump_slot && type != types->glob_dat) || slot.symbol == 0) {
			continue;
		}
		if (!vec_push(&slots->slots, slot))
			return false;
	}
	return true;
}

static int compare_slots(const void *a, const void *b)
{
	const struct slot *left = a;
	const struct slot *right = b;
	return COMPARE(left->address, right->address);
}

static uint64_t elf_plt_address_of(const void *slot)
{
	return ((const struct slot *)slot)->address;
}

static bool collect_slots(const struct elf_image *image, bool has_plt_got, struct slots *slots)
{
	static const char *const sections[] = {
		".rela.dyn", ".rel.dyn", ".rela.plt", ".rel.plt", ".rela.iplt", ".rel.iplt"};
	size_t first = has_plt_got ? 0 : 2; /* The first two sections are long, and only .plt.got uses their slots. */
	for (size_t i = first; i < ARRAY_LEN(sections); i++) {
		GElf_Shdr header;
		Elf_Scn *section = elf_internal_section(image, sections[i], &header);
		struct elf_relocations relocations;
		if (section && elf_internal_relocations(image, section, &header, &relocations) &&
			!elf_plt_add_slots(image, &relocations, slots))
			return false;
	}
	return key_sort_items(slots->slots.items, slots->slots.len, sizeof(*slots->slots.items),
		&(key_of_item){elf_plt_address_of}, 1);
}

/* *next is the slot after the last one found, which the next entry usually uses. */
static const struct slot *elf_plt_find_slot(const struct slots *slots, uint64_t address, size_t *next)
{
	struct slot key = {.address = address};
	const struct slot *found = NULL;
	if (*next < slots->slots.len && slots->slots.items[*next].address == address)
		found = &slots->slots.items[*next];
	else if (slots->slots.len > 0)
		found = bsearch(&key, slots->slots.items, slots->slots.len, sizeof(key), compare_slots);
	if (found)
		*next = (size_t)(found - slots->slots.items) + 1;
	return found;
}

static bool elf_plt_add_entry(struct elf_image *image, const struct slot *slot, struct elf_plt_entry entry,
	const struct elf_symbol_source *names, struct elf_plt *plt)
{
	entry.resolver = slot->resolver;
	if (slot->symbol != 0) {
		GElf_Sym symbol;
		if (slot->symbol >= names->count || !elf_internal_symbol(names, (size_t)slot->symbol, &symbol))
			return true;
		entry.target = elf_internal_symbol_name(image, names, &symbol);
		if (!entry.target || *entry.target == '\0')
			return true;
	}
	return vec_push(&plt->entries, entry);
}

/* Decodes the slot that the entry's indirect jump uses. Returns false if it is no such entry. */
static bool x86_jump_slot(struct tally_bytes code, uint64_t vaddr, uint64_t got, bool is_64, uint64_t *slot)
{
	static const uint8_t landing_pad[] = {0xf3, 0x0f, 0x1e};
	struct cursor c = cursor_make(code, false);
	if (c.len >= 4 && memcmp(c.data, landing_pad, sizeof(landing_pad)) == 0)
		cursor_skip(&c, 4); /* Skips endbr32 or endbr64. */
	uint8_t opcode = cursor_u8(&c);
	if (opcode == 0xf2) /* The opcode has a bnd prefix. */
		opcode = cursor_u8(&c);
	uint8_t operand = cursor_u8(&c);
	const uint8_t *bytes = cursor_take(&c, 4);
	if (!bytes || opcode != 0xff || (operand != 0x25 && (is_64 || operand != 0xa3)))
		return false;
	uint32_t value =
		(uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
	if (is_64)
		*slot = vaddr + c.pos + (uint64_t)(int64_t)(int32_t)value;
	else
		*slot = operand == 0xa3 ? (uint32_t)(got + value) : value;
	return true;
}

static bool x86_section(struct elf_image *image, const char *name, const struct slots *slots,
	const struct elf_symbol_source *names, struct elf_plt *plt)
{
	GElf_Shdr header;
	GElf_Shdr got = {0};
	struct tally_bytes code = elf_image_section(image, name);
	if (code.len == 0 || !elf_internal_section(image, name, &header))
		return true;
	if (!elf_internal_section(image, ".got.plt", &got) && !elf_internal_section(image, ".got", &got))
		got.sh_addr = 0;
	bool is_64 = image->machine == EM_X86_64;
	uint64_t slot;
	size_t next = 0;
	size_t step = header.sh_entsize == 8 ? 8 : 16;
	if (code.len >= 16 && x86_jump_slot((struct tally_bytes){code.data, 8}, 0, 0, is_64, &slot) &&
		x86_jump_slot((struct tally_bytes){code.data + 8, 8}, 0, 0, is_64, &slot))
		step = 8;
	if (code.len >= 16 && code.data[0] == 0xff && (code.data[1] == 0x35 || code.data[1] == 0xb3)) {
		struct elf_plt_entry first = {.vaddr = header.sh_addr, .size = 16, .is_header = true};
		if (!vec_push(&plt->entries, first))
			return false;
	}
	for (size_t at = 0; at + 6 <= code.len; at += step) {
		size_t left = MIN(code.len - at, step);
		uint64_t vaddr = header.sh_addr + at;
		struct tally_bytes entry = {code.data + at, left};
		const struct slot *found = NULL;
		if (x86_jump_slot(entry, vaddr, got.sh_addr, is_64, &slot))
			found = elf_plt_find_slot(slots, slot, &next);
		struct elf_plt_entry out = {.vaddr = vaddr, .size = step};
		if (found && !elf_plt_add_entry(image, found, out, names, plt))
			return false;
	}
	return true;
}

static bool ordered_section(
	struct elf_image *image, const struct slots *slots, const struct elf_symbol_source *names, struct elf_plt *plt)
{
	GElf_Shdr header;
	const struct plt_shape *shape = NULL;
	for (size_t i = 0; i < ARRAY_LEN(plt_shapes); i++)
		if (plt_shapes[i].machine == image->machine)
			shape = &plt_shapes[i];
	if (!shape || !elf_internal_section(image, ".plt", &header))
		return true;
	struct elf_plt_entry entry = {.vaddr = header.sh_addr, .size = shape->header_bytes, .is_header = true};
	if (names->count == 0) /* A static program has no lazy binding, so its PLT has no header. */
		entry.size = 0;
	else if (!vec_push(&plt->entries, entry))
		return false;
	for (size_t i = 0; i < slots->slots.len; i++) {
		entry = (struct elf_plt_entry){.vaddr = entry.vaddr + entry.size, .size = shape->entry_bytes};
		if (entry.vaddr - header.sh_addr >= header.sh_size)
			break;
		if (!elf_plt_add_entry(image, &slots->slots.items[i], entry, names, plt))
			return false;
	}
	return true;
}

enum tally_status elf_image_plt(struct elf_image *image, struct elf_plt *plt, struct tally_error *err)
{
	static const char *const sections[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
	struct elf_symbol_source names = {0};
	struct slots slots = {0};
	GElf_Shdr header;
	bool is_x86 = image->machine == EM_X86_64 || image->machine == EM_386;
	(void)elf_internal_symbols(image, SHT_DYNSYM, &names);
	bool ok = collect_slots(image, is_x86 && elf_internal_section(image, ".plt.got", &header), &slots);
	if (is_x86)
		for (size_t i = 0; i < ARRAY_LEN(sections) && ok; i++)
			ok = x86_section(image, sections[i], &slots, &names, plt);
	else if (ok)
		ok = ordered_section(image, &slots, &names, plt);
	vec_free(&slots.slots);
	return ok ? TALLY_OK : error_nomem(err);
}
