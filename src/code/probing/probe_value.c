/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_value.h"

#include <inttypes.h>
#include <limits.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "object/dwarf/dwarf_file.h"
#include "object/dwarf/dwarf_numbers.h"

#define PROBE_MEMBER_DEPTH 16 /* Maximum number of base classes and unnamed members around a member. */

static const char *probe_value_type_name(struct probe_reader *reader, const struct probe_value *value)
{
	return dwarf_type_name(reader->types, value->type);
}

static enum tally_status probe_not_there(
	const struct probe_value *value, const struct probe_location *location, struct tally_error *err)
{
	return error_set(err, TALLY_NOT_FOUND, "Failed to find the location of the '%s' variable at this address: %s%s",
		value->name, location->reason ? location->reason : "memory ran out",
		location->is_elsewhere && !location->is_described ? " (--vars with --range shows where)" : "");
}

enum tally_status probe_value_begin(struct probe_reader *reader, const struct dwarf_scope_variable *variable,
	struct probe_value *value, struct tally_error *err)
{
	struct arena *arena = &reader->fetches->arena;
	*value = (struct probe_value){.name = arena_string(arena, variable->name.data, variable->name.len)};
	if (!value->name)
		return error_nomem(err);
	value->variable = value->name;
	value->type = dwarf_type_at(reader->types, variable->type);
	probe_location_find(&reader->locator, variable, &value->location);
	if (reader->types->out_of_memory || reader->locator.out_of_memory)
		return error_nomem(err);
	return value->location.kind == PROBE_LOCATION_NONE ? probe_not_there(value, &value->location, err) : TALLY_OK;
}

static void probe_value_skip(struct probe_value *value, uint64_t bytes)
{
	struct probe_location *location = &value->location;
	struct probe_chain *chain = &location->chain;
	if (location->kind == PROBE_LOCATION_CHAIN && chain->is_memory)
		chain->offsets[chain->count - 1] = (int64_t)((uint64_t)chain->offsets[chain->count - 1] + bytes);
	else
		value->skipped += bytes;
}

enum tally_status probe_value_reduce(
	struct probe_reader *reader, struct probe_value *value, uint64_t bytes, struct tally_error *err)
{
	struct probe_location *location = &value->location;
	uint64_t begin = 0;
	(void)reader;
	if (location->kind == PROBE_LOCATION_BYTES) {
		if (value->skipped > location->bytes.len || bytes > location->bytes.len - value->skipped || bytes > 8)
			return error_set(err, TALLY_UNSUPPORTED, "'%s' is constant, and longer than the kernel takes",
				value->name);
		struct probe_chain number = {.base = PROBE_BASE_NUMBER, .count = 1};
		memcpy(&number.number, location->bytes.data + value->skipped, (size_t)bytes);
		location->kind = PROBE_LOCATION_CHAIN;
		location->chain = number;
		value->skipped = 0;
	}
	for (size_t i = 0; location->kind == PROBE_LOCATION_PIECES && i < location->piece_count; i++) {
		const struct probe_piece *piece = &location->pieces[i];
		if (value->skipped >= begin + piece->bytes) {
			begin += piece->bytes;
			continue;
		}
		if (piece->is_missing)
			return error_set(err, TALLY_NOT_FOUND,
				"Failed to find the location of the '%s' variable at this address: this part of it was "
				"optimised out",
				value->name);
		if (value->skipped + bytes > begin + piece->bytes)
			return error_set(err, TALLY_UNSUPPORTED,
				"'%s' lies in several places, which the kernel cannot put together; name a member of "
				"it",
				value->name);
		uint64_t rest = value->skipped - begin;
		value->skipped = 0;
		location->chain = piece->chain;
		location->kind = PROBE_LOCATION_CHAIN;
		probe_value_skip(value, rest);
	}
	if (location->kind == PROBE_LOCATION_POINTER)
		return error_set(err, TALLY_UNSUPPORTED,
			"the pointer '%s' was optimised out: what it points to is there, and can be named with '->'",
			value->name);
	if (location->kind == PROBE_LOCATION_CHAIN)
		return TALLY_OK;
	return error_set(
		err, TALLY_NOT_FOUND, "Failed to find the location of the '%s' variable at this address", value->name);
}

/* Replaces a pointer that was optimised out by its target, a variable to which the debug information refers. */
static enum tally_status probe_follow_target(
	struct probe_reader *reader, struct probe_value *value, struct tally_error *err)
{
	const struct probe_scope *scope = &reader->locator.place->scope;
	struct dwarf_reference target = value->location.target;
	int64_t offset = value->location.target_offset;
	const struct dwarf_unit *unit = scope->unit;
	struct dwarf_scope_variable variable;
	if (target.file != scope->file || target.entry < unit->offset || target.entry >= unit->end)
		unit = dwarf_file_unit_at(target.file, target.entry);
	if (!unit || !dwarf_scope_variable_at(&reader->types->reader, target.file, unit, target.entry, &variable))
		return error_set(
			err, TALLY_NOT_FOUND, "what '%s' points to was optimised out at this address", value->name);
	probe_location_find(&reader->locator, &variable, &value->location);
	if (reader->locator.out_of_memory)
		return error_nomem(err);
	if (value->location.kind == PROBE_LOCATION_NONE)
		return probe_not_there(value, &value->location, err);
	value->skipped = 0;
	probe_value_skip(value, (uint64_t)offset);
	return TALLY_OK;
}

enum tally_status probe_value_dereference(
	struct probe_reader *reader, struct probe_value *value, struct tally_error *err)
{
	struct probe_chain *chain = &value->location.chain;
	unsigned pointer_bytes = reader->locator.place->scope.unit->address_size;
	if (value->location.kind == PROBE_LOCATION_POINTER)
		return probe_follow_target(reader, value, err);
	enum tally_status status = probe_value_reduce(reader, value, pointer_bytes, err);
	if (status != TALLY_OK)
		return status;
	if (!chain->is_memory && (value->skipped || chain->shift || (chain->bits && chain->bits < 8 * pointer_bytes)))
		return error_set(err, TALLY_UNSUPPORTED, "the pointer '%s' is part of a register", value->name);
	if (!chain->is_memory && chain->base == PROBE_BASE_NUMBER && chain->count == 1)
		return error_set(err, TALLY_UNSUPPORTED, "the pointer '%s' is constant: 0x%" PRIx64, value->name,
			chain->number + (uint64_t)chain->offsets[0]);
	if (chain->is_memory && pointer_bytes < sizeof(void *))
		return error_set(err, TALLY_UNSUPPORTED,
			"the pointer '%s' is in memory and has %u bytes; this kernel reads pointers of %zu bytes",
			value->name, pointer_bytes, sizeof(void *));
	if (chain->is_memory && chain->count == PROBE_READS_MAX)
		return error_set(
			err, TALLY_LIMIT, "the kernel follows at most %d pointers in one argument", PROBE_READS_MAX);
	if (chain->is_memory)
		chain->offsets[chain->count++] = 0;
	chain->is_memory = true;
	chain->bits = 0;
	return TALLY_OK;
}

static bool probe_is_reference(const struct dwarf_type *plain)
{
	return plain && (plain->tag == DW_TAG_reference_type || plain->tag == DW_TAG_rvalue_reference_type);
}

/* Follows references of C++, which the source uses without '*'. */
static enum tally_status probe_value_settle(
	struct probe_reader *reader, struct probe_value *value, struct tally_error *err)
{
	const struct dwarf_type *plain = dwarf_type_plain(reader->types, value->type);
	if (!probe_is_reference(plain))
		return TALLY_OK;
	value->type = dwarf_type_target(reader->types, plain);
	value->dimension = 0;
	return probe_value_dereference(reader, value, err);
}

enum tally_status probe_value_name_referent(
	struct probe_reader *reader, struct probe_value *value, struct tally_error *err)
{
	const struct dwarf_type *plain = dwarf_type_plain(reader->types, value->type);
	const struct dwarf_type *target =
		probe_is_reference(plain) ? dwarf_type_plain(reader->types, dwarf_type_target(reader->types, plain))
					  : NULL;
	bool is_small = target && target->kind != DWARF_TYPE_RECORD && target->kind != DWARF_TYPE_FUNCTION;
	return is_small ? probe_value_settle(reader, value, err) : TALLY_OK;
}

/* Members of base classes and of unnamed members can be named like the record's own. */
static const struct dwarf_member *probe_member_find(struct probe_reader *reader, const struct dwarf_type *record,
	struct tally_str name, uint64_t *offset, unsigned depth)
{
	size_t count;
	const struct dwarf_member *members = dwarf_type_members(reader->types, record, &count);
	for (size_t i = 0; i < count; i++) {
		const char *own = members[i].name;
		size_t length = members[i].bits ? strcspn(own, ":") : strlen(own);
		if (length > 0 && str_equal((struct tally_str){own, length}, name)) {
			*offset += members[i].offset;
			return &members[i];
		}
	}
	for (size_t i = 0; i < count && depth < PROBE_MEMBER_DEPTH; i++) {
		const struct dwarf_type *inner = members[i].name[0] || members[i].bits || members[i].is_computed
							 ? NULL
							 : dwarf_type_plain(reader->types, members[i].type);
		uint64_t inner_offset = members[i].offset;
		const struct dwarf_member *found =
			inner && inner->kind == DWARF_TYPE_RECORD
				? probe_member_find(reader, inner, name, &inner_offset, depth + 1)
				: NULL;
		if (found) {
			*offset += inner_offset;
			return found;
		}
	}
	return NULL;
}

/* Sets an error that suggests the member with the most similar name. The name of a bit-field is followed by ":WIDTH",
 * which is not compared. */
static enum tally_status probe_no_member(struct probe_reader *reader, const struct probe_value *value,
	const struct dwarf_type *record, struct tally_str name, struct tally_error *err)
{
	size_t count;
	const struct dwarf_member *members = dwarf_type_members(reader->types, record, &count);
	struct tally_str nearest = {"", 0};
	unsigned least = (unsigned)(name.len / 3 + 1);
	for (size_t i = 0; i < count; i++) {
		const char *own = members[i].name;
		const struct tally_str bare = {own, members[i].bits ? strcspn(own, ":") : strlen(own)};
		unsigned distance = bare.len > 0 ? text_distance(name, bare) : UINT_MAX;
		if (distance > least || (distance == least && nearest.len > 0))
			continue;
		nearest = bare;
		least = distance;
	}
	const char *type = probe_value_type_name(reader, value);
	if (nearest.len == 0)
		return error_set(err, TALLY_NOT_FOUND, "%s(type:%s) has no member %.*s.", value->name, type,
			(int)name.len, name.data);
	return error_set(err, TALLY_NOT_FOUND, "%s(type:%s) has no member %.*s; is '%.*s' meant?", value->name, type,
		(int)name.len, name.data, (int)nearest.len, nearest.data);
}

static enum tally_status probe_value_member(
	struct probe_reader *reader, struct probe_value *value, struct tally_str name, struct tally_error *err)
{
	const struct dwarf_type *record = dwarf_type_plain(reader->types, value->type);
	uint64_t offset = 0;
	if (!record || record->kind != DWARF_TYPE_RECORD)
		return error_set(err, TALLY_INVALID, "%s is not a data structure nor a union: its type is %s",
			value->name, probe_value_type_name(reader, value));
	if (record->is_declared_only)
		record = dwarf_type_definition(reader->types, record);
	if (!record)
		return error_set(err, TALLY_NOT_FOUND,
			"the members of %s are not known: this debug information only declares the type",
			probe_value_type_name(reader, value));
	const struct dwarf_member *member = probe_member_find(reader, record, name, &offset, 0);
	if (reader->types->out_of_memory)
		return error_nomem(err);
	if (!member)
		return probe_no_member(reader, value, record, name, err);
	if (member->is_computed)
		return error_set(err, TALLY_UNSUPPORTED, "the program finds the place of '%.*s' when it runs",
			(int)name.len, name.data);
	if (member->bits) {
		/* The unnamed records around the bit-field are skipped as bytes; first_bit counts from its own
		 * record. */
		uint64_t outer = offset - member->offset;
		probe_value_skip(value, outer);
		value->first_bit = member->first_bit;
		value->bits = member->bits;
	} else {
		probe_value_skip(value, offset);
	}
	value->record = record;
	value->type = member->type;
	value->dimension = 0;
	value->name = arena_string(&reader->fetches->arena, name.data, name.len);
	return value->name ? TALLY_OK : error_nomem(err);
}

static enum tally_status probe_value_element(
	struct probe_reader *reader, struct probe_value *value, int64_t index, struct tally_error *err)
{
	const struct dwarf_type *plain = dwarf_type_plain(reader->types, value->type);
	const struct dwarf_type *element = plain ? dwarf_type_target(reader->types, plain) : NULL;
	uint64_t size = element ? dwarf_type_size(reader->types, element) : 0;
	bool is_array = plain && plain->kind == DWARF_TYPE_ARRAY;
	if (!is_array && (!plain || plain->kind != DWARF_TYPE_POINTER))
		return error_set(err, TALLY_INVALID, "%s is neither an array nor a pointer: its type is %s",
			value->name, probe_value_type_name(reader, value));
	if (size == 0)
		return error_set(err, TALLY_UNSUPPORTED, "the elements of '%s' have no size", value->name);
	if (!is_array) {
		enum tally_status status = probe_value_dereference(reader, value, err);
		if (status != TALLY_OK)
			return status;
	}
	bool is_last = !is_array || value->dimension + 1 >= plain->dimension_count;
	for (uint32_t i = value->dimension + 1; is_array && i < plain->dimension_count; i++)
		size *= plain->dimensions[i];
	probe_value_skip(value, (uint64_t)index * size);
	if (is_last)
		value->type = element;
	value->dimension = is_last ? 0 : value->dimension + 1;
	return TALLY_OK;
}

enum tally_status probe_value_step(struct probe_reader *reader, struct probe_value *value,
	const struct probe_field *field, struct tally_error *err)
{
	enum tally_status status = probe_value_settle(reader, value, err);
	const struct dwarf_type *plain = dwarf_type_plain(reader->types, value->type);
	bool is_pointer = plain && plain->kind == DWARF_TYPE_POINTER;
	bool is_array = plain && plain->kind == DWARF_TYPE_ARRAY;
	if (status != TALLY_OK)
		return status;
	if (value->bits)
		return error_set(err, TALLY_INVALID, "%s is a bit-field, which has no members", value->name);
	/* In Rust, a reference to an array is indexed like the array. */
	const struct dwarf_type *pointed =
		is_pointer && reader->has_dots
			? dwarf_type_plain(reader->types, dwarf_type_target(reader->types, plain))
			: NULL;
	if (field->kind == PROBE_FIELD_INDEX && pointed && pointed->kind == DWARF_TYPE_ARRAY) {
		value->type = pointed;
		status = probe_value_dereference(reader, value, err);
		if (status != TALLY_OK)
			return status;
	}
	if (field->kind == PROBE_FIELD_INDEX)
		return probe_value_element(reader, value, field->index, err);
	if (field->kind == PROBE_FIELD_DOT && is_pointer && !reader->has_dots)
		return error_set(err, TALLY_INVALID, "Semantic error: %.*s must be referred by '->': %s is a pointer",
			(int)field->name.len, field->name.data, value->name);
	if (field->kind == PROBE_FIELD_ARROW && is_array)
		status = probe_value_element(reader, value, 0, err);
	else if (is_pointer) {
		value->type = dwarf_type_target(reader->types, plain);
		status = probe_value_dereference(reader, value, err);
	} else if (field->kind == PROBE_FIELD_ARROW && plain && plain->kind == DWARF_TYPE_RECORD)
		return error_set(err, TALLY_INVALID, "Semantic error: %.*s must be referred by '.': %s is no pointer",
			(int)field->name.len, field->name.data, value->name);
	return status == TALLY_OK ? probe_value_member(reader, value, field->name, err) : status;
}
