/* SPDX-License-Identifier: Apache-2.0 */
/* Reads arbitrary bytes as the entries of a unit: functions, inlined calls, ranges and names; variables, their
 * locations and their types. */
#include "dwarf_builder.h"
#include "object/dwarf/dwarf_declaration.h"
#include "object/dwarf/dwarf_file.h"
#include "object/dwarf/dwarf_functions.h"
#include "object/dwarf/dwarf_variables.h"

static void read_type(struct dwarf_types *types, struct dwarf_reference at)
{
	const struct dwarf_type *type = dwarf_type_at(types, at);
	size_t count = 0;
	if (!type)
		return;
	(void)dwarf_type_name(types, type);
	(void)dwarf_type_size(types, type);
	const struct dwarf_member *members = dwarf_type_members(types, type, &count);
	for (size_t i = 0; i < count; i++)
		if (members[i].type)
			(void)dwarf_type_name(types, members[i].type);
}

static void read_variables(
	struct dwarf_types *types, const struct dwarf_location_lists *lists, const struct dwarf_function_place *place)
{
	struct dwarf_variables variables;
	struct dwarf_reference type;
	if (dwarf_variables_read(&variables, &types->reader, lists, place, NULL) != TALLY_OK)
		return;
	for (size_t i = 0; i < variables.items.len; i++)
		read_type(types, variables.items.items[i].type);
	for (size_t i = 0; i < variables.calls.len; i++)
		if (dwarf_entry_type(&types->reader, variables.calls.items[i].callee, &type))
			read_type(types, type);
	dwarf_variables_deinit(&variables);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dwarf_builder builder;
	struct dwarf_file *file;
	struct dwarf_types types;
	const struct dwarf_location_lists lists = {.loc = {data, size}, .loclists = {data, size}};
	dwarf_builder_make_from(&builder, data, size);
	dwarf_types_init(&types);
	if (dwarf_file_open_sections(builder.sections, builder.swap, &file, NULL) == TALLY_OK) {
		for (size_t i = 0; i < file->units.len; i++) {
			struct dwarf_functions functions;
			struct dwarf_globals globals = {.items = {0}};
			const struct dwarf_unit *unit = &file->units.items[i];
			if (dwarf_functions_read(&functions, &types.reader, file, unit, NULL) == TALLY_OK) {
				for (size_t f = 0; f < functions.functions.len; f++) {
					uint64_t entry = functions.functions.items[f].entry;
					(void)dwarf_function_name(&types.reader, file, entry);
					read_variables(
						&types, &lists, &(struct dwarf_function_place){file, unit, entry});
				}
				for (size_t r = 0; r < functions.ranges.len; r++)
					(void)dwarf_functions_find(&functions, functions.ranges.items[r].high);
			}
			dwarf_functions_deinit(&functions);
			if (dwarf_globals_add(&globals, &types.reader, file, unit, NULL) == TALLY_OK)
				for (size_t g = 0; g < globals.items.len; g++)
					read_type(&types, globals.items.items[g].type);
			dwarf_globals_deinit(&globals);
		}
		/* A reference to a type may have any offset. */
		for (uint64_t at = 0; at < file->sections[DWARF_INFO].len && at < 256; at++)
			read_type(&types, (struct dwarf_reference){file, at});
		dwarf_file_close(file);
	}
	dwarf_types_deinit(&types);
	dwarf_builder_deinit(&builder);
	return 0;
}
