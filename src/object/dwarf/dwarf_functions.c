/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/dwarf_functions.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"
#include "object/dwarf/dwarf_budget.h"
#include "object/dwarf/dwarf_numbers.h"
#include "object/dwarf/dwarf_ranges.h"

#define RANGES_PER_PAYMENT 256

struct dwarf_functions_builder {
	struct dwarf_functions *out;
	struct dwarf_walk walk;
	/* Indexed by depth: the function that contains the entries below the entry that is open at that depth. */
	VEC(uint32_t) open;
	bool out_of_memory;
};

struct code { /* Attributes of an entry that describe code. */
	struct dwarf_extent extent;
	uint64_t sibling;
	uint64_t call_file, call_line;
};

/* Returns whether the entry cannot contain functions. Other languages nest functions in types, C and C++ compilers do
 * not. */
static bool has_no_code(const struct dwarf_unit *unit, uint32_t tag)
{
	switch (unit->language) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
		break;
	default:
		return tag == DW_TAG_enumeration_type || tag == DW_TAG_array_type;
	}
	return tag == DW_TAG_enumeration_type || tag == DW_TAG_array_type || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_subroutine_type;
}

static bool read_code(struct dwarf_functions_builder *b, const struct dwarf_entry *entry, struct code *code)
{
	*code = (struct code){.sibling = 0};
	for (uint32_t i = 0; i < entry->abbrev->attr_count; i++) {
		const struct dwarf_attr_spec *spec = &entry->abbrev->attrs[i];
		struct dwarf_value value;
		switch (spec->name) {
		case DW_AT_low_pc:
		case DW_AT_high_pc:
		case DW_AT_ranges:
		case DW_AT_sibling:
		case DW_AT_call_file:
		case DW_AT_call_line:
			if (!dwarf_read_value(&b->walk, spec, &value))
				return false;
			break;
		default:
			dwarf_skip_value(&b->walk, spec);
			continue;
		}
		if (spec->name == DW_AT_low_pc) {
			code->extent.low = value;
		} else if (spec->name == DW_AT_high_pc) {
			code->extent.high = value;
		} else if (spec->name == DW_AT_ranges) {
			code->extent.ranges = value;
		} else if (spec->name == DW_AT_sibling) {
			code->sibling = value.number;
		} else if (spec->name == DW_AT_call_file) {
			code->call_file = value.number;
		} else {
			code->call_line = value.number;
		}
	}
	b->walk.failed |= b->walk.cursor.failed;
	return !b->walk.failed;
}

static bool add_ranges(struct dwarf_functions_builder *b, const struct code *code)
{
	size_t before = b->out->ranges.len;
	size_t unpaid = 0;
	uint64_t highest = b->walk.unit->address_size == 8 ? UINT64_MAX : UINT32_MAX;
	uint32_t function = (uint32_t)b->out->functions.len;
	struct dwarf_ranges ranges;
	uint64_t low;
	uint64_t high;
	dwarf_ranges_extent(&ranges, b->walk.file, b->walk.unit, &code->extent);
	while (dwarf_ranges_next(&ranges, &low, &high) && !b->out_of_memory && !b->walk.failed) {
		/* The linker sets the addresses of discarded code to 0 or to one of the highest addresses. */
		if (low != 0 && low < highest - 1 && high > low)
			b->out_of_memory |= !vec_push(
				&b->out->ranges, ((struct dwarf_code_range){low, high, function, DWARF_NO_FUNCTION}));
		if (++unpaid == RANGES_PER_PAYMENT) {
			b->walk.failed = !dwarf_spend(b->walk.file, DWARF_COST_FUNCTION_RANGE * RANGES_PER_PAYMENT);
			unpaid = 0;
		}
	}
	if (code->extent.ranges.class != DWARF_NONE)
		b->walk.failed |= !dwarf_spend(b->walk.file, DWARF_COST_FUNCTION_RANGE * (uint64_t)unpaid);
	return b->out->ranges.len > before;
}

static uint32_t open_at(const struct dwarf_functions_builder *b, uint32_t depth)
{
	return depth == 0 || depth > b->open.len ? DWARF_NO_FUNCTION : b->open.items[depth - 1];
}

/* Records that the entries below this entry are inside the function. */
static void dwarf_functions_set_open(
	struct dwarf_functions_builder *b, const struct dwarf_entry *entry, uint32_t function)
{
	while (b->open.len <= entry->depth && !b->out_of_memory)
		b->out_of_memory |= !vec_push(&b->open, DWARF_NO_FUNCTION);
	if (!b->out_of_memory)
		b->open.items[entry->depth] = function;
}

static void visit_function(struct dwarf_functions_builder *b, const struct dwarf_entry *entry)
{
	bool is_inlined = entry->abbrev->tag == DW_TAG_inlined_subroutine;
	uint32_t around = open_at(b, entry->depth);
	struct code code;
	if (!read_code(b, entry, &code))
		return;
	uint32_t own = DWARF_NO_FUNCTION;
	if (add_ranges(b, &code)) {
		struct dwarf_function function = {.entry = entry->offset,
			.caller = is_inlined ? around : DWARF_NO_FUNCTION,
			.call_file = (uint32_t)code.call_file,
			.call_line = (uint32_t)code.call_line};
		own = (uint32_t)b->out->functions.len;
		b->out_of_memory |= !vec_push(&b->out->functions, function);
	}
	dwarf_functions_set_open(b, entry, own == DWARF_NO_FUNCTION && is_inlined ? around : own);
}

static void dwarf_functions_visit(struct dwarf_functions_builder *b, const struct dwarf_entry *entry)
{
	uint32_t tag = entry->abbrev->tag;
	struct code code;
	if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
		visit_function(b, entry);
		return;
	}
	if (!entry->abbrev->has_children) {
		dwarf_skip_values(&b->walk, entry);
		return;
	}
	if (has_no_code(b->walk.unit, tag)) {
		if (read_code(b, entry, &code) && code.sibling)
			dwarf_skip_children(&b->walk, entry, code.sibling);
	} else {
		dwarf_skip_values(&b->walk, entry);
	}
	dwarf_functions_set_open(b, entry, open_at(b, entry->depth));
}

static int dwarf_functions_by_low(const void *a, const void *b)
{
	const struct dwarf_code_range *left = a;
	const struct dwarf_code_range *right = b;
	if (left->low != right->low)
		return left->low < right->low ? -1 : 1;
	if (left->high != right->high)
		return left->high > right->high ? -1 : 1;
	return COMPARE(left->function, right->function);
}

static void dwarf_functions_nest(struct dwarf_functions *functions)
{
	struct dwarf_code_range *ranges = functions->ranges.items;
	size_t count = functions->ranges.len;
	uint32_t last = DWARF_NO_FUNCTION; /* Innermost range that may still be open. */
	if (count == 0)
		return;
	qsort(ranges, count, sizeof(*ranges), dwarf_functions_by_low);
	for (size_t i = 0; i < count; i++) {
		while (last != DWARF_NO_FUNCTION && ranges[last].high <= ranges[i].low)
			last = ranges[last].enclosing;
		ranges[i].enclosing = last;
		last = (uint32_t)i;
	}
}

enum tally_status dwarf_functions_read(struct dwarf_functions *functions, struct dwarf_reader *reader,
	const struct dwarf_file *file, const struct dwarf_unit *unit, struct tally_error *err)
{
	struct dwarf_functions_builder b = {.out = functions};
	*functions = (struct dwarf_functions){.functions = {0}};
	if (!dwarf_walk_unit(&b.walk, reader, file, unit))
		return reader->out_of_memory ? error_nomem(err) : TALLY_OK;
	struct dwarf_entry entry;
	while (!b.out_of_memory && functions->ranges.len < DWARF_NO_FUNCTION && dwarf_next(&b.walk, &entry))
		dwarf_functions_visit(&b, &entry);
	vec_free(&b.open);
	functions->is_damaged = b.walk.failed;
	dwarf_functions_nest(functions);
	return b.out_of_memory || reader->out_of_memory ? error_nomem(err) : TALLY_OK;
}

void dwarf_functions_deinit(struct dwarf_functions *functions)
{
	vec_free(&functions->functions);
	vec_free(&functions->ranges);
}

/* Returns the last range that begins at or below the address; DWARF_NO_FUNCTION if there is none. */
static uint32_t last_at(const struct dwarf_functions *functions, uint64_t address)
{
	size_t low;
	LOWER_BOUND(low, functions->ranges.len, middle, functions->ranges.items[middle].low <= address);
	return low ? (uint32_t)(low - 1) : DWARF_NO_FUNCTION;
}

uint32_t dwarf_functions_find(const struct dwarf_functions *functions, uint64_t address)
{
	const struct dwarf_code_range *ranges = functions->ranges.items;
	uint32_t i = last_at(functions, address);
	for (unsigned step = 0; i != DWARF_NO_FUNCTION && step < DWARF_OVERLAPPING_RANGES;
		i = ranges[i].enclosing, step++)
		if (address < ranges[i].high)
			return ranges[i].function;
	return DWARF_NO_FUNCTION;
}

const struct dwarf_code_range *dwarf_functions_range(
	const struct dwarf_functions *functions, uint32_t function, uint64_t address)
{
	const struct dwarf_code_range *ranges = functions->ranges.items;
	uint32_t i = last_at(functions, address);
	for (unsigned step = 0; i != DWARF_NO_FUNCTION && step < DWARF_OVERLAPPING_RANGES;
		i = ranges[i].enclosing, step++)
		if (address < ranges[i].high && ranges[i].function == function)
			return &ranges[i];
	return NULL;
}
