/* SPDX-License-Identifier: Apache-2.0 */
/* Reads arbitrary bytes as an ELF file: symbols, PLT, build ID, debug link, packed symbols and relocated sections. */
#include "object/elf/elf_image.h"

#define SECTIONS 64

/* Relocates the image like a kernel module. */
static void relocate(struct elf_image *image)
{
	uint64_t addresses[SECTIONS];
	struct elf_section section;
	struct elf_section_info info;
	for (size_t i = 0; i < SECTIONS; i++)
		addresses[i] = elf_image_section_info(image, i, &info) && info.is_in_memory ? i << 32 : 0;
	if (elf_image_place_sections(image, addresses, SECTIONS, NULL) == TALLY_OK &&
		elf_section_open(image, ".debug_info", &section, NULL) == TALLY_OK)
		elf_section_close(&section);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_image *image;
	struct elf_image *inner;
	struct elf_symbol_list list = {0};
	struct elf_symbol_list versioned = {0};
	struct elf_reference_list references = {0};
	struct elf_plt plt = {0};
	struct tally_str link;
	uint32_t crc;
	if (elf_image_open_bytes((struct tally_bytes){data, size}, &image, NULL) != TALLY_OK)
		return 0;
	if (elf_image_symbols(image, &list, NULL) == TALLY_OK && elf_image_plt(image, &plt, NULL) == TALLY_OK)
		(void)elf_image_debuglink(image, &link, &crc);
	if (elf_image_versioned_symbols(image, &versioned, NULL) == TALLY_OK)
		(void)!elf_image_references(image, &references, NULL);
	relocate(image);
	if (elf_image_open_minidebug(image, &inner, NULL) == TALLY_OK)
		elf_image_close(inner);
	vec_free(&list.symbols);
	vec_free(&versioned.symbols);
	vec_free(&references.references);
	vec_free(&plt.entries);
	elf_image_close(image);
	return 0;
}
