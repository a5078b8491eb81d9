/* SPDX-License-Identifier: Apache-2.0 */
/* Reads arbitrary bytes as the line table of a unit, with the paths of its files. */
#include "dwarf_builder.h"
#include "object/dwarf/dwarf_file.h"
#include "object/dwarf/dwarf_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dwarf_builder builder;
	struct dwarf_file *file;
	struct dwarf_reader reader;
	dwarf_builder_make_from(&builder, data, size);
	dwarf_reader_init(&reader);
	if (dwarf_file_open_sections(builder.sections, builder.swap, &file, NULL) == TALLY_OK) {
		for (size_t i = 0; i < file->units.len; i++) {
			struct dwarf_lines lines;
			struct arena arena;
			arena_init(&arena);
			if (dwarf_lines_read(&lines, &reader, file, &file->units.items[i], NULL) == TALLY_OK)
				for (uint32_t f = 0; f < lines.files.len && f < 64; f++)
					(void)dwarf_lines_path(&lines, f, &arena);
			for (size_t r = 0; r < lines.rows.len; r++)
				(void)dwarf_lines_find(&lines, lines.rows.items[r].address);
			arena_deinit(&arena);
			dwarf_lines_deinit(&lines);
		}
		dwarf_file_close(file);
	}
	dwarf_reader_deinit(&reader);
	dwarf_builder_deinit(&builder);
	return 0;
}
