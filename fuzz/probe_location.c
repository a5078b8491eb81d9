/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates arbitrary bytes as the location of a variable that a probe fetches. The first byte determines the width,
 * the machine and the frame base. */
#include "arch/arch.h"
#include "code/probing/probe_value.h"
#include "object/frame_numbers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t base[] = {DW_OP_reg7};
	if (size == 0)
		return 0;
	struct dwarf_file file = {.swap = data[0] & 1};
	struct dwarf_unit unit = {
		.version = 5, .address_size = data[0] & 2 ? 4 : 8, .offset_size = 4, .end = UINT64_C(1) << 20};
	struct probe_binary binary = {.path = "", .arch = data[0] & 4 ? &arch_aarch64 : &arch_x86_64};
	struct probe_place place = {.address = 0x1000, .scope = {.file = &file, .unit = &unit}};
	struct dwarf_location_lists lists = {.loc = {NULL, 0}};
	struct dwarf_location frame_base = {.kind = DWARF_LOCATION_EXPRESSION, .expression = {base, sizeof(base)}};
	struct probe_fetches fetches;
	struct probe_value value;
	struct dwarf_types types;
	struct probe_fetch fetch = {.name = NULL};
	probe_fetches_init(&fetches);
	struct probe_reader reader = {.binary = &binary, .fetches = &fetches};
	reader.locator = (struct probe_locator){.binary = &binary,
		.place = &place,
		.lists = &lists,
		.frame_base = &frame_base,
		.address = place.address,
		.function_entry = data[0] & 8 ? place.address : 0,
		.arena = &fetches.arena};
	dwarf_types_init(&types);
	reader.types = &types;
	const struct dwarf_scope_variable variable = {.at = {&file, 1},
		.name = {"v", 1},
		.location = {.kind = DWARF_LOCATION_EXPRESSION, .expression = {data + 1, size - 1}}};
	if (probe_value_begin(&reader, &variable, &value, NULL) == TALLY_OK &&
		probe_value_print(&reader, &value, (struct tally_str){"", 0}, &fetch, NULL) != TALLY_OK)
		fetch.text = NULL;
	dwarf_types_deinit(&types);
	probe_fetches_deinit(&fetches);
	return 0;
}
