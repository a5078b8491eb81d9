/* SPDX-License-Identifier: Apache-2.0 */
#include "code/types/data_types.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/order.h"
#include "base/text.h"
#include "code/types/value_tracker.h"
#include "object/dwarf/dwarf_file.h"

struct function { /* One contiguous range of a function's code. */
	uint64_t low;
	struct value_places places;
	bool has_code;
};

struct global {
	uint64_t address, end;
	const struct dwarf_type *type;
};

struct data_types_layout {
	const struct dwarf_type *type;
	struct data_field *fields;
	size_t count;
};

struct data_types {
	struct data_types_input input;
	struct dwarf_types types;
	struct dwarf_location_lists lists;
	struct disassembler *disassembler;
	VEC(struct function) functions;
	struct map_u64 by_low; /* Maps low to an index in functions. */
	struct dwarf_globals read; /* Variables that were read, but are not in globals yet. */
	VEC(struct global) globals; /* Sorted by address. */
	struct map_u64 units; /* Set of units that were searched for variables, by pointer. */
	bool has_all_units;
	const struct dwarf_unit *unit; /* Unit of the current function. */
	const struct dwarf_file *file;
	VEC(struct data_types_layout) layouts;
	bool out_of_memory;
};

enum tally_status data_types_create(
	const struct data_types_input *input, struct data_types **out, struct tally_error *err)
{
	struct data_types *types = calloc(1, sizeof(*types));
	if (!types)
		return error_nomem(err);
	types->input = *input;
	dwarf_types_init(&types->types);
	const struct disassembler_options options = {
		.elf_machine = input->elf_machine, .is_64 = true, .is_intel = true};
	enum tally_status status = disassembler_create(&options, &types->disassembler, err);
	if (status == TALLY_OK)
		status = dwarf_location_lists_open(&types->lists, input->image, false, err);
	if (status != TALLY_OK) {
		data_types_destroy(types);
		return status;
	}
	*out = types;
	return TALLY_OK;
}

void data_types_destroy(struct data_types *types)
{
	if (!types)
		return;
	for (size_t i = 0; i < types->functions.len; i++)
		value_places_deinit(&types->functions.items[i].places);
	vec_free(&types->functions);
	map_u64_deinit(&types->by_low);
	dwarf_globals_deinit(&types->read);
	vec_free(&types->globals);
	map_u64_deinit(&types->units);
	vec_free(&types->layouts);
	disassembler_destroy(types->disassembler);
	dwarf_location_lists_close(&types->lists);
	dwarf_types_deinit(&types->types);
	free(types);
}

static int data_types_by_address(const void *a, const void *b)
{
	const struct global *left = a;
	const struct global *right = b;
	return COMPARE(left->address, right->address);
}

/* Moves types->read to types->globals and sorts these. Variables whose size is 0 or not known are dropped. */
static bool take_globals(struct data_types *types)
{
	if (types->read.items.len == 0)
		return true;
	for (size_t i = 0; i < types->read.items.len; i++) {
		const struct dwarf_type *type = dwarf_type_at(&types->types, types->read.items.items[i].type);
		uint64_t address = types->read.items.items[i].address;
		uint64_t size = type ? dwarf_type_size(&types->types, type) : 0;
		struct global global = {.address = address, .type = type};
		if (size > 0 && !__builtin_add_overflow(address, size, &global.end) &&
			!vec_push(&types->globals, global))
			return false;
	}
	types->read.items.len = 0;
	if (types->globals.len > 0)
		qsort(types->globals.items, types->globals.len, sizeof(*types->globals.items), data_types_by_address);
	return true;
}

static bool add_unit(struct data_types *types, const struct dwarf_file *file, const struct dwarf_unit *unit)
{
	bool is_new;
	/* Units are identified by pointer, because the offset of a split unit is relative to its own file. */
	if (!map_u64_at(&types->units, (uint64_t)(uintptr_t)unit, &is_new))
		return false;
	return !is_new || dwarf_globals_add(&types->read, &types->types.reader, file, unit, NULL) == TALLY_OK;
}

static bool add_all_units(struct data_types *types)
{
	const struct dwarf_file *file = debug_info_file(types->input.info);
	bool ok = true;
	if (file->sections[DWARF_INFO].len > LIMIT_SEARCHED_DEBUG_INFO)
		return true;
	for (size_t i = 0; i < file->units.len && ok; i++)
		ok = add_unit(types, file, &file->units.items[i]);
	return ok;
}

static bool look_up_global(const struct data_types *types, uint64_t address, struct value_global *global)
{
	size_t low;
	LOWER_BOUND(low, types->globals.len, middle, types->globals.items[middle].address <= address);
	if (low == 0 || types->globals.items[low - 1].end <= address)
		return false;
	*global = (struct value_global){
		types->globals.items[low - 1].type, address - types->globals.items[low - 1].address};
	return true;
}

/* Searches the function's unit first. Other units are read only if it lacks the variable. */
static bool data_types_find_global(void *context, uint64_t address, struct value_global *global)
{
	struct data_types *types = context;
	bool ok = add_unit(types, types->file, types->unit) && take_globals(types);
	if (ok && look_up_global(types, address, global))
		return true;
	if (ok && !types->has_all_units) {
		types->has_all_units = true;
		ok = add_all_units(types) && take_globals(types);
	}
	types->out_of_memory |= !ok;
	return ok && look_up_global(types, address, global);
}

static bool find_callee(void *context, uint64_t address, struct dwarf_reference *callee)
{
	const struct data_types *types = context;
	struct debug_function function;
	if (!debug_info_function(types->input.info, address, &function) || function.low != address)
		return false;
	*callee = (struct dwarf_reference){function.file, function.entry};
	return true;
}

/* The location lists of a unit are in its .dwo file, in the .dwp package, or in the image. */
static enum tally_status read_variables(struct data_types *types, const struct debug_function *function,
	struct dwarf_variables *variables, struct tally_error *err)
{
	const struct dwarf_function_place place = {function->file, function->unit, function->entry};
	struct dwarf_location_lists own;
	const struct dwarf_location_lists *lists = function->packaged ? function->packaged : &types->lists;
	if (!function->split_image)
		return dwarf_variables_read(variables, &types->types.reader, lists, &place, err);
	enum tally_status status = dwarf_location_lists_open(&own, function->split_image, true, err);
	if (status != TALLY_OK)
		return status;
	status = dwarf_variables_read(variables, &types->types.reader, &own, &place, err);
	dwarf_location_lists_close(&own);
	return status;
}

static enum tally_status data_types_run(struct data_types *types, const struct debug_function *function,
	struct tally_bytes code, struct tally_error *err)
{
	struct function one = {.low = function->low, .has_code = code.len > 0};
	struct dwarf_variables variables;
	struct value_tracker_input input = {.types = &types->types,
		.variables = &variables,
		.disassembler = types->disassembler,
		.elf_machine = types->input.elf_machine,
		.code = code,
		.start = function->low,
		.fused = types->input.fused,
		.find_global = data_types_find_global,
		.find_callee = find_callee,
		.context = types};
	types->file = function->file;
	types->unit = function->unit;
	enum tally_status status = read_variables(types, function, &variables, err);
	if (status != TALLY_OK)
		return status;
	input.is_entry = variables.entry == function->low;
	status = value_tracker_run(&input, &one.places, err);
	dwarf_variables_deinit(&variables);
	if (status != TALLY_OK)
		return status;
	if (types->out_of_memory || !vec_push(&types->functions, one)) {
		value_places_deinit(&one.places);
		return error_nomem(err);
	}
	return map_u64_set(&types->by_low, one.low, types->functions.len - 1) ? TALLY_OK : error_nomem(err);
}

bool data_types_range(const struct data_types *types, uint64_t address, uint64_t *low, uint64_t *high)
{
	struct debug_function function;
	if (!debug_info_function(types->input.info, address, &function))
		return false;
	*low = function.low;
	*high = function.high;
	return true;
}

bool data_types_has(const struct data_types *types, uint64_t address)
{
	struct debug_function function;
	uint64_t index;
	return debug_info_function(types->input.info, address, &function) &&
	       map_u64_find(&types->by_low, function.low, &index);
}

/* Builds a path such as "in.c" from the members that contain the offset, outermost first, down to one that is not a
 * record. */
static bool field_path(struct data_types *types, const struct dwarf_type *type, uint64_t offset, struct text *path)
{
	bool is_found = false;
	for (unsigned depth = 0; depth < LIMIT_DATA_TYPE_DEPTH; depth++) {
		const struct dwarf_type *plain = dwarf_type_plain(&types->types, type);
		size_t count, i = 0;
		if (!plain || plain->kind != DWARF_TYPE_RECORD)
			return is_found;
		const struct dwarf_member *members = dwarf_type_members(&types->types, plain, &count);
		while (i < count && (offset < members[i].offset || offset - members[i].offset >= members[i].size))
			i++;
		if (i == count)
			return is_found;
		if (path->len > 0 && members[i].name[0])
			text_char(path, '.');
		text_str(path, members[i].name);
		is_found = path->len > 0;
		offset -= members[i].offset;
		type = members[i].type;
	}
	return is_found;
}

static enum tally_status data_types_describe(
	struct data_types *types, const struct value_place *place, struct data_access *access, struct tally_error *err)
{
	struct text path = {0};
	access->type = place->type;
	access->type_name = dwarf_type_name(&types->types, place->type);
	access->size = dwarf_type_size(&types->types, place->type);
	access->offset = place->offset;
	access->field = NULL;
	bool has_field = field_path(types, place->type, place->offset, &path);
	if (has_field && !path.failed)
		access->field = arena_string(&types->types.arena, path.data, path.len);
	bool ok = !path.failed && (!has_field || access->field) && !types->types.out_of_memory;
	text_deinit(&path);
	return ok ? TALLY_OK : error_nomem(err);
}

static enum data_access_kind data_types_kind_of(enum value_place_kind kind)
{
	switch (kind) {
	case VALUE_PLACE_NONE:
		return DATA_ACCESS_NO_MEMORY;
	case VALUE_PLACE_STACK:
		return DATA_ACCESS_STACK;
	case VALUE_PLACE_NO_VARIABLE:
		return DATA_ACCESS_NO_VARIABLE;
	case VALUE_PLACE_NO_TYPE:
		return DATA_ACCESS_NO_TYPE;
	case VALUE_PLACE_BAD_OFFSET:
		return DATA_ACCESS_BAD_OFFSET;
	case VALUE_PLACE_TYPED:
		break;
	}
	return DATA_ACCESS_TYPED;
}

enum tally_status data_types_find(struct data_types *types, uint64_t address, struct tally_bytes code,
	struct data_access *access, struct tally_error *err)
{
	struct debug_function function;
	uint64_t index;
	*access = (struct data_access){.kind = DATA_ACCESS_NO_FUNCTION};
	if (!debug_info_function(types->input.info, address, &function))
		return TALLY_OK;
	if (!map_u64_find(&types->by_low, function.low, &index)) {
		enum tally_status status = data_types_run(types, &function, code, err);
		if (status != TALLY_OK)
			return status;
		index = types->functions.len - 1;
	}
	const struct value_place *place = value_places_find(&types->functions.items[index].places, address);
	access->kind = place ? data_types_kind_of(place->kind) : DATA_ACCESS_NO_INSTRUCTION;
	access->is_followed = place && place->is_followed;
	access->back_bytes = place ? (unsigned)(address - place->accessed_by) : 0;
	return access->kind == DATA_ACCESS_TYPED ? data_types_describe(types, place, access, err) : TALLY_OK;
}

struct data_types_field_list {
	VEC(struct data_field) items;
	bool out_of_memory;
};

static void data_types_add_fields(struct data_types *types, const struct dwarf_type *type,
	const struct data_field *above, struct data_types_field_list *list)
{
	const struct dwarf_type *plain = dwarf_type_plain(&types->types, type);
	size_t count = 0;
	const struct dwarf_member *members =
		plain && plain->kind == DWARF_TYPE_RECORD ? dwarf_type_members(&types->types, plain, &count) : NULL;
	struct data_field own = *above;
	own.has_fields =
		count > 0 && above->depth < LIMIT_DATA_TYPE_DEPTH && list->items.len + count < LIMIT_DATA_TYPE_FIELDS;
	list->out_of_memory |= !vec_push(&list->items, own);
	for (size_t i = 0; own.has_fields && i < count && !list->out_of_memory; i++) {
		struct data_field field = {.depth = above->depth + 1,
			.type_name = dwarf_type_name(&types->types, members[i].type),
			.name = members[i].name,
			.offset = above->offset + members[i].offset,
			.size = members[i].size};
		data_types_add_fields(types, members[i].type, &field, list);
	}
}

enum tally_status data_types_fields(struct data_types *types, const struct dwarf_type *type,
	const struct data_field **fields, size_t *count, struct tally_error *err)
{
	struct data_types_field_list list = {.out_of_memory = false};
	struct data_types_layout layout = {.type = type};
	for (size_t i = 0; i < types->layouts.len; i++)
		if (types->layouts.items[i].type == type) {
			*fields = types->layouts.items[i].fields;
			*count = types->layouts.items[i].count;
			return TALLY_OK;
		}
	struct data_field whole = {.type_name = dwarf_type_name(&types->types, type),
		.name = "",
		.size = dwarf_type_size(&types->types, type)};
	data_types_add_fields(types, type, &whole, &list);
	layout.count = list.items.len;
	layout.fields = arena_array(&types->types.arena, struct data_field, list.items.len);
	if (layout.fields && list.items.len > 0)
		memcpy(layout.fields, list.items.items, list.items.len * sizeof(*layout.fields));
	vec_free(&list.items);
	if (list.out_of_memory || !layout.fields || types->types.out_of_memory || !vec_push(&types->layouts, layout))
		return error_nomem(err);
	*fields = layout.fields;
	*count = layout.count;
	return TALLY_OK;
}
