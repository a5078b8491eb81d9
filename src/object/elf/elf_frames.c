/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_frames.c - finds .eh_frame by its section, or, in a file without section headers, by the program header of its
 * search table.
 */

#include "base/array.h"
#include "base/cursor.h"
#include "base/order.h"
#include "object/elf/elf_internal.h"
#include "object/frame_numbers.h"

#define FROM_TABLE (DW_EH_PE_datarel | DW_EH_PE_sdata4)
/* Size of a row of the search table: start of code and address of the entry, both relative to the header. */
#define ROW_BYTES 8
#define FROM_HERE (DW_EH_PE_pcrel | DW_EH_PE_sdata4) /* All linkers use this encoding. */

/* Returns the bytes from a link-time address to the end of its segment in the file. */
static struct tally_bytes bytes_from(const struct elf_image *image, uint64_t vaddr)
{
	for (size_t i = 0; i < image->segments.len; i++) {
		const struct elf_segment *segment = &image->segments.items[i];
		uint64_t into = vaddr - segment->vaddr;
		if (vaddr < segment->vaddr || into >= segment->file_size || segment->offset > image->bytes.len ||
			into >= image->bytes.len - segment->offset)
			continue;
		uint64_t left = image->bytes.len - segment->offset - into;
		left = MIN(left, segment->file_size - into);
		return (struct tally_bytes){image->bytes.data + segment->offset + into, (size_t)left};
	}
	return (struct tally_bytes){NULL, 0};
}

static uint64_t find_header(const struct elf_image *image)
{
	size_t count;
	if (elf_getphdrnum(image->elf, &count) != 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		if (gelf_getphdr(image->elf, (int)i, &header) && header.p_type == PT_GNU_EH_FRAME)
			return header.p_vaddr;
	}
	return 0;
}

bool elf_image_eh_frame(const struct elf_image *image, struct elf_frames *out)
{
	GElf_Shdr header;
	*out = (struct elf_frames){.header_address = find_header(image)};
	if (elf_internal_section(image, ".eh_frame", &header)) {
		out->bytes = elf_image_section(image, ".eh_frame");
		out->address = header.sh_addr;
		return out->bytes.len > 0; /* In a separate debug file, the section has no contents. */
	}
	/* The header has version 1, the encodings of the pointer, the count and the table, and then the pointer to
	 * .eh_frame. */
	struct cursor c = cursor_make(bytes_from(image, out->header_address), image->swap);
	uint8_t version = cursor_u8(&c);
	uint8_t encoding = cursor_u8(&c);
	cursor_skip(&c, 2);
	if (out->header_address == 0 || version != 1 || encoding != FROM_HERE)
		return false;
	out->address = out->header_address + 4;
	out->address += (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
	out->bytes = bytes_from(image, out->address);
	out->ends_at_zero = true;
	return !c.failed && out->bytes.len > 0;
}

static uint64_t elf_frames_number(struct tally_bytes table, size_t at, bool swap)
{
	struct cursor c = cursor_make((struct tally_bytes){table.data + at, sizeof(uint32_t)}, swap);
	return (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
}

enum elf_frame_found elf_image_frame_at(
	const struct elf_image *image, const struct elf_frames *frames, uint64_t address, uint64_t *offset)
{
	struct cursor c = cursor_make(bytes_from(image, frames->header_address), image->swap);
	uint8_t version = cursor_u8(&c);
	uint8_t encoding = cursor_u8(&c);
	uint8_t count_encoding = cursor_u8(&c);
	uint8_t row_encoding = cursor_u8(&c);
	cursor_skip(&c, sizeof(uint32_t));
	uint32_t count = cursor_u32(&c);
	if (frames->header_address == 0 || c.failed || version != 1 || encoding != FROM_HERE ||
		count_encoding != DW_EH_PE_udata4 || row_encoding != FROM_TABLE || count == 0 ||
		count > cursor_left(&c) / ROW_BYTES)
		return ELF_FRAME_NO_INDEX;
	struct tally_bytes table = {c.data + c.pos, (size_t)count * ROW_BYTES};
	uint64_t base = frames->header_address;
	size_t end;
	LOWER_BOUND(end, count, i, base + elf_frames_number(table, i * ROW_BYTES, image->swap) <= address);
	if (end == 0)
		return ELF_FRAME_NONE;
	*offset = base + elf_frames_number(table, (end - 1) * ROW_BYTES + sizeof(uint32_t), image->swap) -
		  frames->address;
	return *offset < frames->bytes.len ? ELF_FRAME_FOUND : ELF_FRAME_NO_INDEX;
}
