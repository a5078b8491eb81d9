/* SPDX-License-Identifier: Apache-2.0 */
/* Reads arbitrary bytes as the index of a package of split units. The first byte selects the byte order. */
#include "object/dwarf/dwarf_package.h"

#include "dwarf_builder.h"
#include "object/dwarf/dwarf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dwarf_builder unit;
	struct dwarf_package *package;
	if (size == 0)
		return 0;
	dwarf_builder_make(&unit, &(struct dwarf_builder_kind){.version = 5, .is_big = data[0] & 1});
	struct tally_bytes index = {data + 1, size - 1};
	if (dwarf_package_open_sections(index, unit.sections, unit.swap, &package, NULL) == TALLY_OK) {
		struct cursor c = cursor_make(index, unit.swap);
		cursor_skip(&c, 16);
		for (unsigned i = 0; i < 64 && cursor_left(&c) >= 8; i++) {
			struct dwarf_file *file;
			if (dwarf_package_unit(package, cursor_u64(&c), NULL, &file, NULL) == TALLY_OK)
				dwarf_file_close(file);
		}
		dwarf_package_close(package);
	}
	dwarf_builder_deinit(&unit);
	return 0;
}
