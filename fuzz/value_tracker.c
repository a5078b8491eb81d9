/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks values through arbitrary code for the machine that the first byte selects, starting from variables in
 * registers, on the stack and at fixed addresses. Each instruction has a valid offset, and each access lies within its
 * type. */
#include "code/types/value_tracker.h"

#include <elf.h>
#include <stdlib.h>

#include "base/array.h"

#define START  0x1000
#define GLOBAL 0x2000

static struct dwarf_member members[2] = {{.name = "next", .size = 8}, {.name = "number", .offset = 8, .size = 8}};
static struct dwarf_type number = {.kind = DWARF_TYPE_SCALAR, .byte_size = 8, .name = "long int"};
static struct dwarf_type node = {.kind = DWARF_TYPE_RECORD,
	.byte_size = 16,
	.own_name = {"node", 4},
	.name = "struct node",
	.members = members,
	.member_count = 2,
	.has_members = true};
static struct dwarf_type pointer = {
	.kind = DWARF_TYPE_POINTER, .byte_size = 8, .name = "struct node*", .target = &node, .has_target = true};

static bool find_global(void *context, uint64_t address, struct value_global *global)
{
	(void)context;
	if (address < GLOBAL || address - GLOBAL >= node.byte_size)
		return false;
	*global = (struct value_global){&node, address - GLOBAL};
	return true;
}

static bool add_variables(struct dwarf_variables *variables, const struct dwarf_file *file)
{
	const struct dwarf_reference to_node = {file, 1}, to_pointer = {file, 2};
	const struct dwarf_variable items[] = {
		{START, START + 64, {.kind = DWARF_STORAGE_REGISTER, .reg = 5}, to_pointer},
		{START + 8, START + 16, {.kind = DWARF_STORAGE_SUM, .reg = 0, .offset = 8}, to_pointer},
		{START, UINT64_MAX, {.kind = DWARF_STORAGE_AT_FRAME_BASE, .offset = -32}, to_node},
		{0, START + 128, {.kind = DWARF_STORAGE_AT_REGISTER, .reg = 6, .offset = -64}, to_pointer},
		{START + 4, START + 5, {.kind = DWARF_STORAGE_REGISTER, .reg = 200}, to_pointer}};
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		if (!vec_push(&variables->items, items[i]))
			return false;
	return true;
}

static void run(const uint8_t *data, size_t size, struct dwarf_types *types, const struct dwarf_file *file)
{
	struct disassembler *disassembler;
	struct value_places places;
	struct dwarf_variables variables = {.frame_base = {.kind = DWARF_STORAGE_CFA}};
	const struct disassembler_options options = {
		.elf_machine = data[0] & 1 ? EM_AARCH64 : EM_X86_64, .is_64 = true, .is_intel = true};
	struct value_tracker_input input = {.types = types,
		.variables = &variables,
		.elf_machine = options.elf_machine,
		.code = {data + 1, size - 1},
		.start = START,
		.is_entry = data[0] & 2,
		.fused = data[0] >> 2,
		.find_global = find_global};
	if (!add_variables(&variables, file) || disassembler_create(&options, &disassembler, NULL) != TALLY_OK)
		abort();
	input.disassembler = disassembler;
	if (value_tracker_run(&input, &places, NULL) != TALLY_OK)
		abort();
	for (size_t i = 0; i < places.items.len; i++) {
		const struct value_place *place = &places.items.items[i];
		if (value_places_find(&places, place->address) != place ||
			(place->kind == VALUE_PLACE_TYPED && place->offset >= dwarf_type_size(types, place->type)))
			abort();
	}
	value_places_deinit(&places);
	dwarf_variables_deinit(&variables);
	disassembler_destroy(disassembler);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct dwarf_file file;
	struct dwarf_types types;
	if (size == 0)
		return 0;
	members[0].type = &pointer;
	members[1].type = &number;
	dwarf_types_init(&types);
	/* The state is that after entries 1 and 2 of the file have been read. */
	if (!vec_push(&types.files, &file) || !map_u64_set(&types.by_entry, 1, (uint64_t)(uintptr_t)&node) ||
		!map_u64_set(&types.by_entry, 2, (uint64_t)(uintptr_t)&pointer))
		abort();
	run(data, size, &types, &file);
	dwarf_types_deinit(&types);
	return 0;
}
