/* SPDX-License-Identifier: Apache-2.0 */
/* Reads arbitrary bytes as the notes of statically defined probes (.note.stapsdt), and as a whole ELF file. */
#include "object/elf/sdt_notes.h"

#include <stdlib.h>

#include "elf_builder.h"

static void check_notes(struct tally_bytes bytes)
{
	struct elf_image *image;
	struct sdt_note_list list;
	if (elf_image_open_bytes(bytes, &image, NULL) != TALLY_OK)
		return;
	if (sdt_notes_read(image, &list, NULL) == TALLY_OK) {
		for (size_t i = 0; i < list.notes.len; i++)
			if (!*list.notes.items[i].provider || !*list.notes.items[i].name)
				abort();
		sdt_notes_deinit(&list);
	}
	elf_image_close(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_notes((struct tally_bytes){data, size});
	for (unsigned kind = 0; kind < 4; kind++) {
		struct writer file = {0};
		struct elf_builder what = {.is_64 = kind & 1,
			.is_big = kind & 2,
			.sdt_notes = {data, size},
			.sdt_base = ELF_BUILDER_TEXT_VADDR};
		elf_builder_make(&what, &file);
		if (!file.failed)
			check_notes(writer_view(&file));
		writer_deinit(&file);
	}
	return 0;
}
