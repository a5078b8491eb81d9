/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_builder.h - makes .debug_frame sections for tests from CIE and FDE programs, in either byte order, with
 * addresses of 4 or 8 bytes.
 *
 *	struct cfi_builder b = {.address_size = 8};
 *	cfi_builder_cie(&b, 16, -8, false, initial, sizeof(initial));
 *	cfi_builder_fde(&b, 0x1000, 0x40, program, sizeof(program));
 */
#ifndef SUPPORT_CFI_BUILDER_H
#define SUPPORT_CFI_BUILDER_H

#include "base/writer.h"
#include "object/dwarf/cfi.h"

struct cfi_builder {
	struct writer w; /* The caller frees it. */
	uint8_t address_size;
	bool is_big;
	uint32_t cie; /* Offset of the last CIE. */
};

void cfi_builder_init(struct cfi_builder *b, uint8_t address_size, bool is_big);
/* data_align must be from -64 to 63 (one byte of SLEB128). The code alignment factor is 1. */
void cfi_builder_cie(struct cfi_builder *b, uint8_t return_register, int data_align, bool is_signal,
	const void *program, size_t len);
void cfi_builder_fde(struct cfi_builder *b, uint64_t low, uint64_t size, const void *program, size_t len);
struct cfi_section cfi_builder_section(const struct cfi_builder *b);

#endif
