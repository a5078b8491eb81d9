/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/dwarf_type.h"

#include <stdio.h>

#include "base/array.h"
#include "base/leb128.h"
#include "base/limits.h"
#include "object/dwarf/dwarf_budget.h"
#include "object/dwarf/dwarf_file.h"
#include "object/dwarf/dwarf_location.h"
#include "object/dwarf/dwarf_numbers.h"
#include "object/frame_numbers.h"

#define FILE_SHIFT 48 /* Sections of debug information are much smaller than 2^48 bytes. */

void dwarf_types_init(struct dwarf_types *types)
{
	*types = (struct dwarf_types){.out_of_memory = false};
	dwarf_reader_init(&types->reader);
	arena_init(&types->arena);
}

void dwarf_types_deinit(struct dwarf_types *types)
{
	dwarf_reader_deinit(&types->reader);
	arena_deinit(&types->arena);
	vec_free(&types->files);
	map_u64_deinit(&types->by_entry);
}

static bool dwarf_type_kind_of(uint32_t tag, enum dwarf_type_kind *kind)
{
	switch (tag) {
	case DW_TAG_base_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_unspecified_type:
	case DW_TAG_ptr_to_member_type:
		*kind = DWARF_TYPE_SCALAR;
		return true;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		*kind = DWARF_TYPE_POINTER;
		return true;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		*kind = DWARF_TYPE_RECORD;
		return true;
	case DW_TAG_array_type:
		*kind = DWARF_TYPE_ARRAY;
		return true;
	case DW_TAG_typedef:
		*kind = DWARF_TYPE_ALIAS;
		return true;
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
	case DW_TAG_packed_type:
		*kind = DWARF_TYPE_QUALIFIED;
		return true;
	case DW_TAG_subroutine_type:
		*kind = DWARF_TYPE_FUNCTION;
		return true;
	default:
		return false;
	}
}

static bool walk_to(
	struct dwarf_walk *walk, struct dwarf_reader *reader, struct dwarf_reference at, struct dwarf_entry *entry)
{
	const struct dwarf_unit *unit = at.file ? dwarf_file_unit_at(at.file, at.entry) : NULL;
	return unit && dwarf_walk_unit(walk, reader, at.file, unit) && dwarf_entry_at(walk, at.entry, entry);
}

struct dwarf_reference dwarf_reference_of(const struct dwarf_walk *walk, const struct dwarf_value *value)
{
	if (value->class == DWARF_REFERENCE)
		return (struct dwarf_reference){walk->file, value->number};
	if (value->class == DWARF_REFERENCE_SUPPLEMENT)
		return (struct dwarf_reference){walk->file->supplement, value->number};
	struct dwarf_reference type = {NULL, 0};
	if (value->class == DWARF_REFERENCE_TYPE &&
		dwarf_file_find_type(walk->file, value->number, &type.file, &type.entry))
		return type;
	return (struct dwarf_reference){NULL, 0};
}

/* Sets *whole to the type's description if this entry only refers to a type unit. */
static void read_attributes(struct dwarf_walk *walk, const struct dwarf_entry *entry, struct dwarf_type *type,
	struct dwarf_reference *whole)
{
	for (uint32_t i = 0; i < entry->abbrev->attr_count; i++) {
		const struct dwarf_attr_spec *spec = &entry->abbrev->attrs[i];
		struct dwarf_value value;
		if (!dwarf_read_value(walk, spec, &value))
			return;
		if (spec->name == DW_AT_name && value.class == DWARF_TEXT)
			type->own_name = value.text;
		else if (spec->name == DW_AT_byte_size && value.class == DWARF_NUMBER)
			type->byte_size = value.number;
		else if (spec->name == DW_AT_encoding && value.class == DWARF_NUMBER)
			type->encoding = (uint8_t)value.number;
		else if (spec->name == DW_AT_declaration)
			type->is_declared_only = true;
		else if (spec->name == DW_AT_type)
			type->points_to = dwarf_reference_of(walk, &value);
		else if (spec->name == DW_AT_signature)
			*whole = dwarf_reference_of(walk, &value);
	}
	if (type->kind == DWARF_TYPE_POINTER && !type->byte_size)
		type->byte_size = walk->unit->address_size;
}

/* Finds the next direct child of an entry whose own attributes were read. Returns false if there is none. */
static bool next_child(struct dwarf_walk *walk, struct dwarf_entry *entry)
{
	for (;;) {
		if (!dwarf_next(walk, entry) || entry->depth == 0 || !dwarf_spend(walk->file, 1))
			return false;
		if (entry->depth == 1)
			return true;
		dwarf_skip_values(walk, entry);
	}
}

static uint64_t dwarf_type_dimension(struct dwarf_walk *walk, const struct dwarf_entry *entry)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < entry->abbrev->attr_count; i++) {
		struct dwarf_value value;
		uint32_t name = entry->abbrev->attrs[i].name;
		if (!dwarf_read_value(walk, &entry->abbrev->attrs[i], &value))
			return 0;
		if (value.class != DWARF_NUMBER)
			continue;
		if (name == DW_AT_count)
			count = value.number;
		else if (name == DW_AT_upper_bound)
			count = value.number + 1;
	}
	return count;
}

static bool read_dimensions(
	struct dwarf_types *types, struct dwarf_walk *walk, const struct dwarf_entry *array, struct dwarf_type *type)
{
	struct dwarf_entry entry;
	uint64_t total = 1;
	VEC(uint64_t) each = {0};
	bool ok = true;
	walk->depth = array->abbrev->has_children;
	while (ok && array->abbrev->has_children && next_child(walk, &entry)) {
		if (entry.abbrev->tag != DW_TAG_subrange_type) {
			dwarf_skip_values(walk, &entry);
			continue;
		}
		uint64_t count = dwarf_type_dimension(walk, &entry);
		if (__builtin_mul_overflow(total, count, &total))
			total = 0;
		ok = vec_push(&each, count);
	}
	type->element_count = each.len > 0 ? total : 0;
	if (ok && each.len > 1) {
		type->dimensions = arena_copy(&types->arena, each.items, each.len * sizeof(*each.items));
		type->dimension_count = (uint32_t)each.len;
		ok = type->dimensions != NULL;
	}
	vec_free(&each);
	return ok;
}

/* may_declare: the entry may refer to a type unit with the description. */
static struct dwarf_type *read_type(struct dwarf_types *types, struct dwarf_reference at, bool may_declare)
{
	struct dwarf_walk walk;
	struct dwarf_entry entry;
	enum dwarf_type_kind kind;
	if (!walk_to(&walk, &types->reader, at, &entry) || !dwarf_type_kind_of(entry.abbrev->tag, &kind)) {
		types->out_of_memory |= types->reader.out_of_memory;
		return NULL;
	}
	struct dwarf_type *type = arena_new(&types->arena, struct dwarf_type);
	if (!type) {
		types->out_of_memory = true;
		return NULL;
	}
	*type = (struct dwarf_type){.kind = kind, .tag = entry.abbrev->tag, .at = at};
	struct dwarf_reference whole = {NULL, 0};
	read_attributes(&walk, &entry, type, &whole);
	if (whole.file && may_declare)
		return read_type(types, whole, false);
	if (kind == DWARF_TYPE_ARRAY && !read_dimensions(types, &walk, &entry, type)) {
		types->out_of_memory = true;
		return NULL;
	}
	return type;
}

/* Returns UINT64_MAX if memory runs out. */
static uint64_t file_index(struct dwarf_types *types, const struct dwarf_file *file)
{
	for (size_t i = 0; i < types->files.len; i++)
		if (types->files.items[i] == file)
			return i;
	return vec_push(&types->files, file) ? types->files.len - 1 : UINT64_MAX;
}

const struct dwarf_type *dwarf_type_at(struct dwarf_types *types, struct dwarf_reference at)
{
	bool is_new;
	if (!at.file)
		return NULL;
	uint64_t file = file_index(types, at.file);
	uint64_t *slot =
		file != UINT64_MAX ? map_u64_at(&types->by_entry, file << FILE_SHIFT | at.entry, &is_new) : NULL;
	if (!slot) {
		types->out_of_memory = true;
		return NULL;
	}
	if (is_new)
		*slot = (uint64_t)(uintptr_t)read_type(types, at, true);
	return (const struct dwarf_type *)(uintptr_t)*slot;
}

const struct dwarf_type *dwarf_type_target(struct dwarf_types *types, const struct dwarf_type *type)
{
	struct dwarf_type *own = (struct dwarf_type *)(uintptr_t)type;
	if (!type->has_target) {
		own->target = dwarf_type_at(types, type->points_to);
		own->has_target = true;
	}
	return type->target;
}

const struct dwarf_type *dwarf_type_plain(struct dwarf_types *types, const struct dwarf_type *type)
{
	for (unsigned step = 0; step < LIMIT_DWARF_TYPE_CHAIN && type; step++) {
		if (type->kind != DWARF_TYPE_ALIAS && type->kind != DWARF_TYPE_QUALIFIED)
			return type;
		type = dwarf_type_target(types, type);
	}
	return NULL;
}

static const char *prefix_of(uint32_t tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
		return "struct ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_enumeration_type:
		return "enum ";
	default:
		return "";
	}
}

static const char *suffix_of(uint32_t tag)
{
	switch (tag) {
	case DW_TAG_pointer_type:
		return "*";
	case DW_TAG_reference_type:
		return "&";
	case DW_TAG_rvalue_reference_type:
		return "&&";
	case DW_TAG_array_type:
		return "[]";
	default:
		return "";
	}
}

static const char *make_name(struct dwarf_types *types, const struct dwarf_type *type, unsigned depth);

static const char *name_at(struct dwarf_types *types, const struct dwarf_type *type, unsigned depth)
{
	struct dwarf_type *own = (struct dwarf_type *)(uintptr_t)type;
	if (!type)
		return "void";
	if (!type->name && depth < LIMIT_DWARF_TYPE_CHAIN)
		own->name = make_name(types, type, depth + 1);
	return type->name ? type->name : "?";
}

static const char *make_name(struct dwarf_types *types, const struct dwarf_type *type, unsigned depth)
{
	if (type->kind == DWARF_TYPE_FUNCTION)
		return "(function_type)";
	if (type->tag == DW_TAG_ptr_to_member_type)
		return "(member_pointer)";
	if (type->kind == DWARF_TYPE_QUALIFIED)
		return name_at(types, dwarf_type_target(types, type), depth);
	const char *name;
	if (type->kind == DWARF_TYPE_POINTER || type->kind == DWARF_TYPE_ARRAY) {
		const char *target = name_at(types, dwarf_type_target(types, type), depth);
		name = strlen(target) > DWARF_LONG_TEXT
			       ? "?"
			       : arena_printf(&types->arena, "%s%s", target, suffix_of(type->tag));
	} else {
		int len = (int)(MIN(type->own_name.len, DWARF_LONG_TEXT));
		name = arena_printf(&types->arena, "%s%.*s", prefix_of(type->tag), len,
			type->own_name.data ? type->own_name.data : "");
	}
	types->out_of_memory |= !name;
	return name;
}

const char *dwarf_type_name(struct dwarf_types *types, const struct dwarf_type *type)
{
	return name_at(types, type, 0);
}

uint64_t dwarf_type_size(struct dwarf_types *types, const struct dwarf_type *type)
{
	uint64_t count = 1;
	for (unsigned step = 0; step < LIMIT_DWARF_TYPE_CHAIN && type; step++) {
		uint64_t size;
		if (type->byte_size)
			return __builtin_mul_overflow(count, type->byte_size, &size) ? 0 : size;
		if (type->kind == DWARF_TYPE_ARRAY && __builtin_mul_overflow(count, type->element_count, &count))
			return 0;
		if (type->kind != DWARF_TYPE_ARRAY && type->kind != DWARF_TYPE_ALIAS &&
			type->kind != DWARF_TYPE_QUALIFIED)
			return 0;
		type = dwarf_type_target(types, type);
	}
	return 0;
}

struct member { /* Attributes of a member's entry. */
	struct tally_str name;
	struct dwarf_reference type;
	uint64_t offset, bits, bit_offset, old_bit_offset, storage;
	bool has_bit_offset, has_old_bit_offset, is_static, is_base, is_computed;
};

/* The offset is a number or, before DWARF 4, possibly an expression that adds one. */
static void read_offset(struct dwarf_walk *walk, const struct dwarf_attr_spec *spec, struct member *member)
{
	struct dwarf_location location;
	if (!dwarf_location_read(walk, spec, &location))
		return;
	member->offset = location.list;
	if (location.kind != DWARF_LOCATION_EXPRESSION)
		return;
	struct cursor c = cursor_make(location.expression, walk->file->swap);
	member->is_computed = cursor_u8(&c) != DW_OP_plus_uconst;
	if (!member->is_computed)
		member->offset = cursor_uleb(&c);
}

static void set_member(const struct dwarf_walk *walk, uint32_t name, const struct dwarf_value *value, struct member *m)
{
	switch (name) {
	case DW_AT_name:
		m->name = value->text;
		break;
	case DW_AT_type:
		m->type = dwarf_reference_of(walk, value);
		break;
	case DW_AT_bit_size:
		m->bits = value->number;
		break;
	case DW_AT_data_bit_offset:
		m->bit_offset = value->number;
		m->has_bit_offset = true;
		break;
	case DW_AT_bit_offset:
		m->old_bit_offset = value->number;
		m->has_old_bit_offset = true;
		break;
	case DW_AT_byte_size:
		m->storage = value->number;
		break;
	case DW_AT_external:
	case DW_AT_declaration:
		m->is_static = true;
		break;
	default:
		break;
	}
}

static bool read_member(struct dwarf_walk *walk, const struct dwarf_entry *entry, struct member *member)
{
	*member = (struct member){.is_base = entry->abbrev->tag == DW_TAG_inheritance};
	for (uint32_t i = 0; i < entry->abbrev->attr_count; i++) {
		const struct dwarf_attr_spec *spec = &entry->abbrev->attrs[i];
		struct dwarf_value value;
		if (spec->name == DW_AT_data_member_location)
			read_offset(walk, spec, member);
		else if (dwarf_read_value(walk, spec, &value))
			set_member(walk, spec->name, &value, member);
	}
	return !walk->failed && !member->is_static;
}

static bool dwarf_type_add_member(struct dwarf_types *types, const struct member *from, struct dwarf_member *to)
{
	int len = (int)(MIN(from->name.len, DWARF_LONG_TEXT));
	const char *text = from->name.data ? from->name.data : "";
	to->type = dwarf_type_at(types, from->type);
	to->offset = from->offset;
	to->is_base = from->is_base;
	to->is_computed = from->is_computed;
	if (from->bits) {
		to->name = arena_printf(&types->arena, "%.*s:%u", len, text, (unsigned)from->bits);
		/* A bit-field is described by the range of bytes that it touches. */
		uint64_t first = from->bit_offset;
		uint64_t storage = from->storage ? from->storage : dwarf_type_size(types, to->type);
		if (!from->has_bit_offset && from->has_old_bit_offset)
			first = 8 * from->offset + 8 * storage - from->old_bit_offset - from->bits;
		else if (!from->has_bit_offset)
			first = 8 * from->offset;
		to->first_bit = first;
		to->bits = (uint32_t)from->bits;
		to->offset = first / 8;
		to->size = (first % 8 + from->bits + 7) / 8;
	} else {
		to->name = arena_string(&types->arena, text, (size_t)len);
		to->size = to->type ? dwarf_type_size(types, to->type) : 0;
	}
	return to->name != NULL;
}

static void read_members(struct dwarf_types *types, struct dwarf_type *type)
{
	struct dwarf_walk walk;
	struct dwarf_entry entry;
	VEC(struct member) found = {0};
	if (!walk_to(&walk, &types->reader, type->at, &entry) || !entry.abbrev->has_children)
		return;
	dwarf_skip_values(&walk, &entry);
	walk.depth = 1;
	while (!types->out_of_memory && next_child(&walk, &entry)) {
		struct member member;
		if (entry.abbrev->tag != DW_TAG_member && entry.abbrev->tag != DW_TAG_inheritance)
			dwarf_skip_values(&walk, &entry);
		else if (read_member(&walk, &entry, &member))
			types->out_of_memory |= !vec_push(&found, member);
	}
	struct dwarf_member *members = arena_array(&types->arena, struct dwarf_member, found.len);
	types->out_of_memory |= !members;
	for (size_t i = 0; i < found.len && !types->out_of_memory; i++)
		types->out_of_memory |= !dwarf_type_add_member(types, &found.items[i], &members[i]);
	if (!types->out_of_memory) {
		type->members = members;
		type->member_count = found.len;
	}
	vec_free(&found);
}

const struct dwarf_member *dwarf_type_members(struct dwarf_types *types, const struct dwarf_type *type, size_t *count)
{
	struct dwarf_type *own = (struct dwarf_type *)(uintptr_t)type;
	if (type->kind == DWARF_TYPE_RECORD && !type->has_members) {
		own->has_members = true;
		read_members(types, own);
	}
	*count = type->member_count;
	return type->members;
}

bool dwarf_entry_type(struct dwarf_reader *reader, struct dwarf_reference of, struct dwarf_reference *type)
{
	struct dwarf_walk walk;
	struct dwarf_entry entry;
	for (unsigned step = 0; step < LIMIT_DWARF_ORIGINS && walk_to(&walk, reader, of, &entry); step++) {
		of.file = NULL;
		for (uint32_t i = 0; i < entry.abbrev->attr_count; i++) {
			struct dwarf_value value;
			uint32_t name = entry.abbrev->attrs[i].name;
			if (!dwarf_read_value(&walk, &entry.abbrev->attrs[i], &value))
				return false;
			if (name == DW_AT_type) {
				*type = dwarf_reference_of(&walk, &value);
				return type->file != NULL;
			}
			if (name == DW_AT_abstract_origin || name == DW_AT_specification)
				of = dwarf_reference_of(&walk, &value);
		}
	}
	return false;
}

/* Returns whether the entry is a direct child of the unit's entry. The depth is found by walking from the start of the
 * unit. */
static bool is_outermost(struct dwarf_types *types, struct dwarf_reference at)
{
	struct dwarf_walk walk;
	struct dwarf_entry entry;
	const struct dwarf_unit *unit = dwarf_file_unit_at(at.file, at.entry);
	if (!unit || !dwarf_walk_unit(&walk, &types->reader, at.file, unit))
		return false;
	while (dwarf_next(&walk, &entry) && entry.offset < at.entry && dwarf_spend(at.file, 1))
		dwarf_skip_values(&walk, &entry);
	return entry.offset == at.entry && entry.depth == 1;
}

static const struct dwarf_type *find_definition(struct dwarf_types *types, const struct dwarf_type *type,
	const struct dwarf_file *file, const struct dwarf_unit *unit)
{
	struct dwarf_walk walk;
	struct dwarf_entry entry;
	if (!dwarf_walk_unit(&walk, &types->reader, file, unit))
		return NULL;
	while (dwarf_next(&walk, &entry) && dwarf_spend(file, 1)) {
		struct dwarf_type one = {.tag = entry.abbrev->tag};
		struct dwarf_reference whole = {NULL, 0};
		if (entry.depth != 1 || one.tag != type->tag) {
			dwarf_skip_values(&walk, &entry);
			continue;
		}
		read_attributes(&walk, &entry, &one, &whole);
		if (!one.is_declared_only && str_equal(one.own_name, type->own_name))
			return dwarf_type_at(types, (struct dwarf_reference){file, entry.offset});
	}
	return NULL;
}

static const struct dwarf_type *find_definition_in(
	struct dwarf_types *types, const struct dwarf_type *type, const struct dwarf_file *file)
{
	const struct dwarf_type *found = NULL;
	if (!file || file->sections[DWARF_INFO].len > LIMIT_SEARCHED_DEBUG_INFO)
		return NULL;
	for (size_t i = 0; i < file->units.len && !found && !types->out_of_memory; i++)
		found = find_definition(types, type, file, &file->units.items[i]);
	for (size_t i = 0; i < file->type_units.len && !found && !types->out_of_memory; i++)
		found = find_definition(types, type, file, &file->type_units.items[i]);
	return found;
}

const struct dwarf_type *dwarf_type_definition(struct dwarf_types *types, const struct dwarf_type *type)
{
	const struct dwarf_file *file = type->at.file;
	if (type->kind != DWARF_TYPE_RECORD || type->own_name.len == 0 || !is_outermost(types, type->at))
		return NULL;
	const struct dwarf_type *found = find_definition_in(types, type, file);
	found = found ? found : find_definition_in(types, type, file->types);
	return found ? found : find_definition_in(types, type, file->supplement);
}
