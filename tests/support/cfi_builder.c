/* SPDX-License-Identifier: Apache-2.0 */
#include "cfi_builder.h"

void cfi_builder_init(struct cfi_builder *b, uint8_t address_size, bool is_big)
{
	bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	*b = (struct cfi_builder){.w = {.swap = is_big != host_is_big}, .address_size = address_size, .is_big = is_big};
}

static void end_entry(struct cfi_builder *b, size_t start)
{
	while (!b->w.failed && (b->w.len - start) % 8 != 4)
		writer_u8(&b->w, 0);
	if (!b->w.failed)
		writer_patch_u32(&b->w, start, (uint32_t)(b->w.len - start - 4));
}

static void write_address(struct cfi_builder *b, uint64_t value)
{
	if (b->address_size == 4)
		writer_u32(&b->w, (uint32_t)value);
	else
		writer_u64(&b->w, value);
}

void cfi_builder_cie(
	struct cfi_builder *b, uint8_t return_register, int data_align, bool is_signal, const void *program, size_t len)
{
	size_t start = b->w.len;
	b->cie = (uint32_t)start;
	writer_u32(&b->w, 0);
	writer_u32(&b->w, UINT32_MAX);
	writer_u8(&b->w, 3);
	if (is_signal)
		writer_bytes(&b->w, "zS", 3);
	else
		writer_u8(&b->w, 0);
	writer_u8(&b->w, 1);
	writer_u8(&b->w, (uint8_t)(data_align & 0x7f));
	writer_u8(&b->w, return_register);
	if (is_signal)
		writer_u8(&b->w, 0);
	writer_bytes(&b->w, program, len);
	end_entry(b, start);
}

void cfi_builder_fde(struct cfi_builder *b, uint64_t low, uint64_t size, const void *program, size_t len)
{
	size_t start = b->w.len;
	bool has_data = !b->w.failed && b->w.data[b->cie + 9] == 'z';
	writer_u32(&b->w, 0);
	writer_u32(&b->w, b->cie);
	write_address(b, low);
	write_address(b, size);
	if (has_data)
		writer_u8(&b->w, 0);
	writer_bytes(&b->w, program, len);
	end_entry(b, start);
}

struct cfi_section cfi_builder_section(const struct cfi_builder *b)
{
	return (struct cfi_section){.bytes = writer_view(&b->w), .swap = b->w.swap, .address_size = b->address_size};
}
