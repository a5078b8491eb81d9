/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_frame.h"

#include "arch/arch.h"
#include "object/dwarf/cfi.h"

struct probe_frame_search {
	uint64_t address;
	uint32_t base;
	struct probe_frame *frame;
	bool is_settled; /* body_offset is final. */
};

/* The prologue moves the stack pointer away from the CFA in steps, so that its distance grows. The first row without
 * further growth belongs to the body. */
static bool probe_frame_take(void *context, const struct cfi_row *row, const struct cfi_frame *unused)
{
	struct probe_frame_search *search = context;
	struct probe_frame *frame = search->frame;
	(void)unused;
	if (!row->cfa_is_expression && row->low <= search->address && search->address < row->high) {
		frame->is_known = true;
		frame->reg = row->cfa_register;
		frame->offset = row->cfa.value;
	}
	bool is_of_base = !row->cfa_is_expression && row->cfa_register == search->base;
	if (!search->is_settled && is_of_base && (!frame->has_body || row->cfa.value > frame->body_offset)) {
		frame->has_body = true;
		frame->body_offset = row->cfa.value;
	} else if (frame->has_body) {
		search->is_settled = true;
	}
	return true;
}

static enum tally_status probe_frame_search_entries(struct probe_frame_search *search, const struct cfi_table *table,
	const struct cfi_fde *fdes, size_t count, struct tally_error *err)
{
	struct cfi_walk walk;
	enum tally_status status = cfi_walk_init(&walk, table, err);
	if (status != TALLY_OK)
		return status;
	walk.take = probe_frame_take;
	walk.context = search;
	for (size_t i = 0; i < count && !search->frame->is_known; i++)
		if (fdes[i].low <= search->address && search->address < fdes[i].high)
			(void)cfi_walk_entry(&walk, &fdes[i]);
	cfi_walk_deinit(&walk);
	return TALLY_OK;
}

static enum tally_status probe_frame_search_section(
	struct probe_frame_search *search, const struct cfi_section *section, struct tally_error *err)
{
	struct cfi_table table;
	enum tally_status status = cfi_open(&table, section, err);
	if (status != TALLY_OK)
		return status;
	status = probe_frame_search_entries(search, &table, table.fdes.items, table.fdes.len, err);
	cfi_deinit(&table);
	return status;
}

/* Searches .eh_frame of the program, because the section in a debug file has no contents. */
static enum tally_status probe_frame_search_eh(struct probe_frame_search *search, const struct elf_image *image,
	uint8_t pointer_bytes, struct tally_error *err)
{
	struct elf_frames frames;
	if (!image || !elf_image_eh_frame(image, &frames))
		return TALLY_OK;
	const struct cfi_table table = {.section = {.bytes = frames.bytes,
						.address = frames.address,
						.data_address = frames.header_address,
						.text_address = elf_image_section_address(image, ".text"),
						.is_eh = true,
						.ends_at_zero = frames.ends_at_zero,
						.swap = elf_image_is_swapped(image),
						.address_size = pointer_bytes}};
	uint64_t offset;
	struct cfi_fde fde;
	if (elf_image_frame_at(image, &frames, search->address, &offset) == ELF_FRAME_FOUND &&
		cfi_fde_at(&table, offset, &fde))
		return probe_frame_search_entries(search, &table, &fde, 1, err);
	return probe_frame_search_section(search, &table.section, err);
}

static enum tally_status probe_frame_search_debug(struct probe_frame_search *search, const struct elf_image *image,
	uint8_t pointer_bytes, struct tally_error *err)
{
	struct elf_section section;
	if (!image || elf_section_open(image, ".debug_frame", &section, NULL) != TALLY_OK)
		return TALLY_OK;
	enum tally_status status = probe_frame_search_section(search,
		&(struct cfi_section){
			.bytes = section.bytes, .swap = elf_image_is_swapped(image), .address_size = pointer_bytes},
		err);
	elf_section_close(&section);
	return status;
}

enum tally_status probe_frame_find(const struct probe_binary *binary, uint64_t address, uint32_t base,
	struct probe_frame *frame, struct tally_error *err)
{
	struct probe_frame_search search = {.address = address, .base = base, .frame = frame};
	uint8_t pointer_bytes = binary->arch ? binary->arch->pointer_bytes : 8;
	*frame = (struct probe_frame){.is_known = false};
	enum tally_status status = probe_frame_search_eh(&search, binary->image, pointer_bytes, err);
	search.address -= binary->moved;
	if (status == TALLY_OK && !frame->is_known)
		status = probe_frame_search_debug(&search, binary->debug_image, pointer_bytes, err);
	return status;
}
