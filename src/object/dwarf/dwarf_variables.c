/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/dwarf_variables.h"

#include "base/error.h"
#include "object/dwarf/dwarf_budget.h"
#include "object/dwarf/dwarf_numbers.h"
#include "object/dwarf/dwarf_ranges.h"

struct span {
	uint64_t low, high;
};

struct scope { /* An open entry that has its own code. */
	uint32_t depth;
	size_t first_span; /* Index in spans; the next scope's first_span ends the range. */
};

struct dwarf_variables_builder {
	struct dwarf_variables *out;
	struct dwarf_walk walk;
	const struct dwarf_location_lists *lists;
	VEC(struct scope) scopes;
	VEC(struct span) spans;
	bool out_of_memory;
};

struct said { /* Attributes of an entry of any kind. */
	struct dwarf_extent extent;
	struct dwarf_location location, frame_base;
	struct dwarf_reference type, origin, callee;
	uint64_t return_address;
};

static void set_reference(const struct dwarf_walk *walk, const struct dwarf_value *value, struct dwarf_reference *to)
{
	struct dwarf_reference found = dwarf_reference_of(walk, value);
	if (found.file)
		*to = found;
}

static void set_said(const struct dwarf_walk *walk, uint32_t name, const struct dwarf_value *value, struct said *said)
{
	switch (name) {
	case DW_AT_type:
		set_reference(walk, value, &said->type);
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		set_reference(walk, value, &said->origin);
		break;
	case DW_AT_call_origin:
		set_reference(walk, value, &said->callee);
		break;
	case DW_AT_call_return_pc:
		said->return_address = value->number;
		break;
	default:
		(void)dwarf_extent_set(&said->extent, name, value);
		break;
	}
}

static bool read_said(struct dwarf_walk *walk, const struct dwarf_entry *entry, struct said *said)
{
	*said = (struct said){.return_address = 0};
	for (uint32_t i = 0; i < entry->abbrev->attr_count; i++) {
		const struct dwarf_attr_spec *spec = &entry->abbrev->attrs[i];
		struct dwarf_value value;
		bool ok = true;
		if (spec->name == DW_AT_location)
			ok = dwarf_location_read(walk, spec, &said->location);
		else if (spec->name == DW_AT_frame_base)
			ok = dwarf_location_read(walk, spec, &said->frame_base);
		else if ((ok = dwarf_read_value(walk, spec, &value)))
			set_said(walk, spec->name, &value, said);
		if (!ok)
			return false;
	}
	return true;
}

static void open_scope(struct dwarf_variables_builder *b, const struct dwarf_entry *entry, const struct said *said)
{
	size_t first = b->spans.len;
	struct dwarf_ranges ranges;
	struct span span;
	dwarf_ranges_extent(&ranges, b->walk.file, b->walk.unit, &said->extent);
	while (!b->out_of_memory && dwarf_ranges_next(&ranges, &span.low, &span.high) &&
		dwarf_spend(b->walk.file, DWARF_COST_RANGE))
		b->out_of_memory |= !vec_push(&b->spans, span);
	if (b->spans.len > first && !b->out_of_memory)
		b->out_of_memory |= !vec_push(&b->scopes, ((struct scope){entry->depth, first}));
}

static void close_scopes(struct dwarf_variables_builder *b, uint32_t depth)
{
	while (b->scopes.len > 0 && b->scopes.items[b->scopes.len - 1].depth >= depth)
		b->spans.len = b->scopes.items[--b->scopes.len].first_span;
}

static void dwarf_variables_add(struct dwarf_variables_builder *b, const struct span *span,
	struct dwarf_storage storage, struct dwarf_reference type)
{
	struct dwarf_variable variable = {span->low, span->high, storage, type};
	if (span->low < span->high && storage.kind != DWARF_STORAGE_UNKNOWN &&
		dwarf_spend(b->walk.file, DWARF_COST_RANGE))
		b->out_of_memory |= !vec_push(&b->out->items, variable);
}

/* A location that is a single expression is valid in the whole scope; entries of a location list have their ranges. */
static void add_variable(struct dwarf_variables_builder *b, const struct said *said)
{
	struct dwarf_reference type = said->type;
	struct dwarf_location_list list;
	struct tally_bytes expression;
	struct span span;
	if (said->location.kind == DWARF_LOCATION_NONE ||
		(!type.file && !dwarf_entry_type(b->walk.reader, said->origin, &type)))
		return;
	dwarf_location_begin(&list, b->lists, b->walk.file, b->walk.unit, &said->location);
	while (!b->out_of_memory && dwarf_location_next(&list, &span.low, &span.high, &expression)) {
		struct dwarf_storage storage = dwarf_storage_of(expression, b->walk.file, b->walk.unit);
		if (said->location.kind != DWARF_LOCATION_EXPRESSION || b->scopes.len == 0) {
			dwarf_variables_add(b, &span, storage, type);
			continue;
		}
		size_t first = b->scopes.items[b->scopes.len - 1].first_span;
		for (size_t i = first; i < b->spans.len; i++)
			dwarf_variables_add(b, &b->spans.items[i], storage, type);
	}
}

static void dwarf_variables_visit(struct dwarf_variables_builder *b, const struct dwarf_entry *entry)
{
	struct said said;
	close_scopes(b, entry->depth);
	switch (entry->abbrev->tag) {
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
		if (read_said(&b->walk, entry, &said))
			open_scope(b, entry, &said);
		break;
	case DW_TAG_variable:
	case DW_TAG_formal_parameter:
		if (read_said(&b->walk, entry, &said))
			add_variable(b, &said);
		break;
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
		if (!read_said(&b->walk, entry, &said))
			break;
		if (entry->abbrev->tag == DW_TAG_GNU_call_site) {
			said.callee = said.origin;
			said.return_address = said.extent.low.number;
		}
		if (said.callee.file)
			b->out_of_memory |=
				!vec_push(&b->out->calls, ((struct dwarf_call){said.return_address, said.callee}));
		break;
	default:
		dwarf_skip_values(&b->walk, entry);
		break;
	}
}

static void dwarf_variables_read_function(struct dwarf_variables_builder *b, uint64_t at)
{
	struct dwarf_entry entry;
	struct said said;
	if (!dwarf_entry_at(&b->walk, at, &entry) || !read_said(&b->walk, &entry, &said))
		return;
	if (said.frame_base.kind == DWARF_LOCATION_EXPRESSION)
		b->out->frame_base = dwarf_storage_of(said.frame_base.expression, b->walk.file, b->walk.unit);
	open_scope(b, &entry, &said);
	b->out->entry = b->spans.len > 0 ? b->spans.items[0].low : 0;
	if (!entry.abbrev->has_children)
		return;
	b->walk.depth = 1;
	while (!b->out_of_memory && dwarf_next(&b->walk, &entry) && entry.depth > 0 && dwarf_spend(b->walk.file, 1))
		dwarf_variables_visit(b, &entry);
}

enum tally_status dwarf_variables_read(struct dwarf_variables *variables, struct dwarf_reader *reader,
	const struct dwarf_location_lists *lists, const struct dwarf_function_place *function, struct tally_error *err)
{
	struct dwarf_variables_builder b = {.out = variables, .lists = lists};
	*variables = (struct dwarf_variables){.frame_base = {.kind = DWARF_STORAGE_UNKNOWN}};
	if (dwarf_walk_unit(&b.walk, reader, function->file, function->unit))
		dwarf_variables_read_function(&b, function->entry);
	vec_free(&b.scopes);
	vec_free(&b.spans);
	if (!b.out_of_memory && !reader->out_of_memory)
		return TALLY_OK;
	dwarf_variables_deinit(variables);
	return error_nomem(err);
}

void dwarf_variables_deinit(struct dwarf_variables *variables)
{
	vec_free(&variables->items);
	vec_free(&variables->calls);
}

static bool add_global(struct dwarf_globals *globals, const struct dwarf_walk *walk, const struct said *said)
{
	struct dwarf_global global = {.type = said->type};
	if (said->location.kind != DWARF_LOCATION_EXPRESSION)
		return true;
	struct dwarf_storage storage = dwarf_storage_of(said->location.expression, walk->file, walk->unit);
	if (storage.kind != DWARF_STORAGE_AT_ADDRESS || storage.address == 0 ||
		(!global.type.file && !dwarf_entry_type(walk->reader, said->origin, &global.type)))
		return true;
	global.address = storage.address;
	return vec_push(&globals->items, global);
}

enum tally_status dwarf_globals_add(struct dwarf_globals *globals, struct dwarf_reader *reader,
	const struct dwarf_file *file, const struct dwarf_unit *unit, struct tally_error *err)
{
	struct dwarf_walk walk;
	struct dwarf_entry entry;
	bool ok = true;
	if (!dwarf_walk_unit(&walk, reader, file, unit))
		return reader->out_of_memory ? error_nomem(err) : TALLY_OK;
	while (ok && dwarf_next(&walk, &entry)) {
		struct said said;
		if (entry.abbrev->tag != DW_TAG_variable)
			dwarf_skip_values(&walk, &entry);
		else if (read_said(&walk, &entry, &said))
			ok = add_global(globals, &walk, &said);
	}
	return ok && !reader->out_of_memory ? TALLY_OK : error_nomem(err);
}

void dwarf_globals_deinit(struct dwarf_globals *globals)
{
	vec_free(&globals->items);
}
