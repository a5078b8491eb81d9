/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/dwarf_scope.h"

#include "base/error.h"
#include "base/limits.h"
#include "object/dwarf/dwarf_file.h"
#include "object/dwarf/dwarf_numbers.h"
#include "object/dwarf/dwarf_ranges.h"

/* Maximum number of ranges of all blocks around an address: functions with hundreds of blocks have thousands. */
#define SCOPE_RANGES_MAX 65536

struct scope_entry { /* Attributes of an entry of any kind. */
	struct dwarf_scope_variable variable;
	struct dwarf_extent extent;
	struct dwarf_location frame_base;
	struct dwarf_reference origin;
};

struct scope_block { /* An open block that contains the address. */
	uint32_t depth;
	size_t first_span, span_count;
};

struct dwarf_scope_builder {
	struct dwarf_scope *out;
	struct dwarf_walk walk;
	uint64_t address;
	VEC(struct scope_block) blocks;
	bool out_of_memory;
};

static void set_constant(struct dwarf_walk *walk, const struct dwarf_attr_spec *spec, struct dwarf_scope_variable *v)
{
	struct dwarf_location location;
	size_t before = walk->cursor.pos;
	struct dwarf_value value;
	v->is_constant = true;
	if (dwarf_location_read(walk, spec, &location) && location.kind == DWARF_LOCATION_EXPRESSION) {
		v->constant_bytes = location.expression;
		return;
	}
	walk->cursor.pos = before;
	if (dwarf_read_value(walk, spec, &value) && value.class == DWARF_NUMBER)
		v->constant = value.number;
	else
		v->is_constant = false;
}

static void set_scope_value(
	const struct dwarf_walk *walk, uint32_t name, const struct dwarf_value *value, struct scope_entry *said)
{
	switch (name) {
	case DW_AT_name:
		said->variable.name = value->text;
		break;
	case DW_AT_type:
		said->variable.type = dwarf_reference_of(walk, value);
		break;
	case DW_AT_declaration:
		said->variable.is_declared_only = value->number != 0;
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		said->origin = dwarf_reference_of(walk, value);
		break;
	default:
		(void)dwarf_extent_set(&said->extent, name, value);
		break;
	}
}

static bool read_scope_entry(struct dwarf_walk *walk, const struct dwarf_entry *entry, struct scope_entry *said)
{
	*said = (struct scope_entry){.variable = {.at = {walk->file, entry->offset},
					     .is_parameter = entry->abbrev->tag == DW_TAG_formal_parameter}};
	for (uint32_t i = 0; i < entry->abbrev->attr_count && !walk->failed; i++) {
		const struct dwarf_attr_spec *spec = &entry->abbrev->attrs[i];
		struct dwarf_value value;
		if (spec->name == DW_AT_location)
			(void)dwarf_location_read(walk, spec, &said->variable.location);
		else if (spec->name == DW_AT_frame_base)
			(void)dwarf_location_read(walk, spec, &said->frame_base);
		else if (spec->name == DW_AT_const_value)
			set_constant(walk, spec, &said->variable);
		else if (dwarf_read_value(walk, spec, &value))
			set_scope_value(walk, spec->name, &value, said);
	}
	return !walk->failed;
}

static bool read_entry_at(struct dwarf_reader *reader, struct dwarf_reference at, struct scope_entry *said)
{
	const struct dwarf_unit *unit = at.file ? dwarf_file_unit_at(at.file, at.entry) : NULL;
	struct dwarf_walk walk;
	struct dwarf_entry entry;
	return unit && dwarf_walk_unit(&walk, reader, at.file, unit) && dwarf_entry_at(&walk, at.entry, &entry) &&
	       read_scope_entry(&walk, &entry, said);
}

/* Adds attributes from the declaration or abstract entry that this entry lacks. */
static void complete_variable(struct dwarf_reader *reader, struct scope_entry *said)
{
	struct dwarf_scope_variable *variable = &said->variable;
	struct dwarf_reference origin = said->origin;
	struct scope_entry more;
	for (unsigned step = 0; step < LIMIT_DWARF_ORIGINS && read_entry_at(reader, origin, &more); step++) {
		if (variable->name.len == 0)
			variable->name = more.variable.name;
		if (!variable->type.file)
			variable->type = more.variable.type;
		if (variable->location.kind == DWARF_LOCATION_NONE && !variable->is_constant &&
			more.variable.is_constant) {
			variable->is_constant = true;
			variable->constant = more.variable.constant;
			variable->constant_bytes = more.variable.constant_bytes;
		}
		origin = more.origin;
	}
}

static bool scope_block_begin(
	struct dwarf_scope_builder *b, const struct dwarf_entry *entry, const struct scope_entry *said)
{
	struct scope_block block = {.depth = entry->depth, .first_span = b->out->spans.len};
	struct dwarf_ranges ranges;
	struct dwarf_span span;
	bool is_inside = false;
	dwarf_ranges_extent(&ranges, b->walk.file, b->walk.unit, &said->extent);
	while (!b->out_of_memory && dwarf_ranges_next(&ranges, &span.low, &span.high) &&
		b->out->spans.len < SCOPE_RANGES_MAX) {
		is_inside |= b->address >= span.low && b->address < span.high;
		b->out_of_memory |= !vec_push(&b->out->spans, span);
	}
	block.span_count = b->out->spans.len - block.first_span;
	if (is_inside)
		b->out_of_memory |= !vec_push(&b->blocks, block);
	return is_inside;
}

static void dwarf_scope_add(struct dwarf_scope_builder *b, struct scope_entry *said)
{
	complete_variable(b->walk.reader, said);
	if (b->blocks.len > 0) {
		said->variable.first_span = b->blocks.items[b->blocks.len - 1].first_span;
		said->variable.span_count = b->blocks.items[b->blocks.len - 1].span_count;
	}
	if (said->variable.name.len > 0)
		b->out_of_memory |= !vec_push(&b->out->items, said->variable);
}

/* Returns whether the entries below this one must be visited. */
static bool dwarf_scope_visit(struct dwarf_scope_builder *b, const struct dwarf_entry *entry)
{
	struct scope_entry said;
	while (b->blocks.len > 1 && b->blocks.items[b->blocks.len - 1].depth >= entry->depth)
		b->blocks.len--;
	switch (entry->abbrev->tag) {
	case DW_TAG_lexical_block:
		return read_scope_entry(&b->walk, entry, &said) && scope_block_begin(b, entry, &said);
	case DW_TAG_variable:
	case DW_TAG_formal_parameter:
		if (read_scope_entry(&b->walk, entry, &said))
			dwarf_scope_add(b, &said);
		return false;
	default:
		dwarf_skip_values(&b->walk, entry);
		return false;
	}
}

/* Visits the entries below one whose own attributes were read. */
static void read_children(struct dwarf_scope_builder *b, const struct dwarf_entry *parent)
{
	struct dwarf_entry entry;
	uint32_t depth = 1; /* Maximum depth of the entries to visit; deeper ones are skipped. */
	b->walk.depth = 1;
	while (parent->abbrev->has_children && !b->out_of_memory && dwarf_next(&b->walk, &entry) && entry.depth > 0) {
		if (entry.depth > depth) {
			dwarf_skip_values(&b->walk, &entry);
			continue;
		}
		depth = entry.depth + dwarf_scope_visit(b, &entry);
	}
}

enum tally_status dwarf_scope_read(struct dwarf_scope *scope, struct dwarf_reader *reader,
	const struct dwarf_function_place *function, uint64_t inlined, uint64_t address, struct tally_error *err)
{
	struct dwarf_scope_builder b = {.out = scope, .address = address};
	struct dwarf_entry entry;
	struct scope_entry said;
	*scope = (struct dwarf_scope){.entry = 0};
	if (dwarf_walk_unit(&b.walk, reader, function->file, function->unit) &&
		dwarf_entry_at(&b.walk, function->entry, &entry) && read_scope_entry(&b.walk, &entry, &said)) {
		scope->frame_base = said.frame_base;
		complete_variable(reader, &said);
		scope->function = said.variable.name;
		(void)scope_block_begin(&b, &entry, &said);
		scope->entry = scope->spans.len > 0 ? scope->spans.items[0].low : 0;
		bool ok = true;
		if (inlined) {
			b.blocks.len = 0;
			ok = dwarf_entry_at(&b.walk, inlined, &entry) && read_scope_entry(&b.walk, &entry, &said);
			if (ok)
				(void)scope_block_begin(&b, &entry, &said);
		}
		if (ok)
			read_children(&b, &entry);
	}
	vec_free(&b.blocks);
	if (!b.out_of_memory && !reader->out_of_memory)
		return TALLY_OK;
	dwarf_scope_deinit(scope);
	return error_nomem(err);
}

enum tally_status dwarf_scope_add_unit(struct dwarf_scope *scope, struct dwarf_reader *reader,
	const struct dwarf_file *file, const struct dwarf_unit *unit, struct tally_error *err)
{
	struct dwarf_scope_builder b = {.out = scope};
	struct dwarf_entry entry;
	uint32_t depth = 1;
	bool ok = dwarf_walk_unit(&b.walk, reader, file, unit) && dwarf_next(&b.walk, &entry);
	if (ok)
		dwarf_skip_values(&b.walk, &entry);
	while (ok && !b.out_of_memory && dwarf_next(&b.walk, &entry)) {
		if (entry.depth > depth ||
			(entry.abbrev->tag != DW_TAG_variable && entry.abbrev->tag != DW_TAG_namespace)) {
			dwarf_skip_values(&b.walk, &entry);
			depth = entry.depth < depth ? entry.depth : depth;
		} else if (entry.abbrev->tag == DW_TAG_namespace) {
			dwarf_skip_values(&b.walk, &entry);
			depth = entry.depth + 1;
		} else {
			depth = entry.depth;
			(void)dwarf_scope_visit(&b, &entry);
		}
	}
	vec_free(&b.blocks);
	return b.out_of_memory || reader->out_of_memory ? error_nomem(err) : TALLY_OK;
}

bool dwarf_scope_is_declared(struct dwarf_reader *reader, struct dwarf_reference function, struct tally_str name)
{
	struct scope_entry said;
	for (unsigned step = 0; step < LIMIT_DWARF_ORIGINS && read_entry_at(reader, function, &said); step++) {
		const struct dwarf_unit *unit = dwarf_file_unit_at(function.file, function.entry);
		struct dwarf_walk walk;
		struct dwarf_entry entry;
		if (!dwarf_walk_unit(&walk, reader, function.file, unit) ||
			!dwarf_entry_at(&walk, function.entry, &entry))
			return false;
		dwarf_skip_values(&walk, &entry);
		walk.depth = entry.abbrev->has_children;
		while (entry.abbrev->has_children && dwarf_next(&walk, &entry) && entry.depth > 0) {
			struct scope_entry child;
			if (entry.abbrev->tag != DW_TAG_variable && entry.abbrev->tag != DW_TAG_formal_parameter)
				dwarf_skip_values(&walk, &entry);
			else if (!read_scope_entry(&walk, &entry, &child))
				break;
			else if (str_equal(child.variable.name, name))
				return true;
		}
		function = said.origin;
	}
	return false;
}

static bool dwarf_scope_said_at(struct dwarf_reader *reader, const struct dwarf_file *file,
	const struct dwarf_unit *unit, uint64_t at, bool is_function, struct scope_entry *said)
{
	struct dwarf_walk walk;
	struct dwarf_entry entry;
	if (!dwarf_walk_unit(&walk, reader, file, unit) || !dwarf_entry_at(&walk, at, &entry))
		return false;
	uint64_t tag = entry.abbrev->tag;
	bool is_wanted =
		is_function ? tag == DW_TAG_subprogram : tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
	if (!is_wanted || !read_scope_entry(&walk, &entry, said))
		return false;
	complete_variable(reader, said);
	return true;
}

bool dwarf_scope_variable_at(struct dwarf_reader *reader, const struct dwarf_file *file, const struct dwarf_unit *unit,
	uint64_t at, struct dwarf_scope_variable *variable)
{
	struct scope_entry said;
	if (!dwarf_scope_said_at(reader, file, unit, at, false, &said))
		return false;
	*variable = said.variable;
	return true;
}

bool dwarf_scope_result_type(struct dwarf_reader *reader, const struct dwarf_file *file, const struct dwarf_unit *unit,
	uint64_t function, struct dwarf_reference *type)
{
	struct scope_entry said;
	if (!dwarf_scope_said_at(reader, file, unit, function, true, &said) || !said.variable.type.file)
		return false;
	*type = said.variable.type;
	return true;
}

void dwarf_scope_deinit(struct dwarf_scope *scope)
{
	vec_free(&scope->items);
	vec_free(&scope->spans);
}
