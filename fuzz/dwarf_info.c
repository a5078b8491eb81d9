/* Any bytes as a unit's entries: functions, inlined calls, ranges and names. */
#include "dwarf_builder.h"
#include "object/dwarf/dwarf_file.h"
#include "object/dwarf/dwarf_functions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dwarf_builder builder;
	struct dwarf_file *file;
	struct dwarf_reader reader;
	dwarf_builder_make_from(&builder, data, size);
	dwarf_reader_init(&reader);
	if (dwarf_file_open_sections(builder.sections, builder.swap, &file, NULL) == TALLY_OK) {
		for (size_t i = 0; i < file->units.len; i++) {
			struct dwarf_functions functions;
			if (dwarf_functions_read(&functions, &reader, file, &file->units.items[i], NULL) == TALLY_OK) {
				for (size_t f = 0; f < functions.functions.len; f++)
					(void)dwarf_function_name(&reader, file, functions.functions.items[f].entry);
				for (size_t r = 0; r < functions.ranges.len; r++)
					(void)dwarf_functions_find(&functions, functions.ranges.items[r].high);
			}
			dwarf_functions_deinit(&functions);
		}
		dwarf_file_close(file);
	}
	dwarf_reader_deinit(&reader);
	dwarf_builder_deinit(&builder);
	return 0;
}
