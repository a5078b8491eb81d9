/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/dwarf_abbrev.h"

#include <stdlib.h>

#include "base/leb128.h"
#include "base/order.h"
#include "object/dwarf/dwarf_budget.h"
#include "object/dwarf/dwarf_numbers.h"

int dwarf_form_size(const struct dwarf_unit *unit, uint32_t form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_flag:
	case DW_FORM_ref1:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return unit->address_size;
	case DW_FORM_ref_addr:
		return unit->version < 3 ? unit->address_size : unit->offset_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_sec_offset:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return unit->offset_size;
	default:
		return -1;
	}
}

struct building {
	VEC(struct dwarf_abbrev) abbrevs;
	/* Attributes of all abbreviations; abbrevs[i].attrs is set when the vector no longer grows. */
	VEC(struct dwarf_attr_spec) attrs;
};

/* Reads an abbreviation, whose code was already read. Returns false if it is truncated or memory runs out. */
static bool read_one(struct cursor *c, const struct dwarf_unit *unit, uint64_t code, struct building *b)
{
	struct dwarf_abbrev abbrev = {.code = code, .tag = (uint32_t)cursor_uleb(c)};
	int32_t size = 0;
	abbrev.has_children = cursor_u8(c) != 0;
	for (;;) {
		struct dwarf_attr_spec spec = {.name = (uint32_t)cursor_uleb(c)};
		spec.form = (uint32_t)cursor_uleb(c);
		if (c->failed)
			return false;
		if (spec.name == 0 && spec.form == 0)
			break;
		if (spec.form == DW_FORM_implicit_const)
			spec.implicit = cursor_sleb(c);
		int one = dwarf_form_size(unit, spec.form);
		size = size < 0 || one < 0 || size > INT32_MAX - one ? -1 : size + one;
		if (!vec_push(&b->attrs, spec))
			return false;
		abbrev.attr_count++;
	}
	abbrev.fixed_size = size;
	return vec_push(&b->abbrevs, abbrev);
}

static int by_code(const void *a, const void *b)
{
	uint64_t left = ((const struct dwarf_abbrev *)a)->code;
	uint64_t right = ((const struct dwarf_abbrev *)b)->code;
	return COMPARE(left, right);
}

static struct dwarf_abbrev_table *dwarf_abbrev_make_table(struct arena *arena, struct building *b)
{
	struct dwarf_abbrev_table *table = arena_new(arena, struct dwarf_abbrev_table);
	if (!table || b->abbrevs.len == 0)
		return table;
	struct dwarf_attr_spec *attrs =
		b->attrs.len == 0 ? arena_new(arena, struct dwarf_attr_spec)
				  : arena_copy(arena, b->attrs.items, b->attrs.len * sizeof(*b->attrs.items));
	if (!attrs)
		return NULL;
	for (size_t i = 0; i < b->abbrevs.len; i++) {
		b->abbrevs.items[i].attrs = attrs;
		attrs += b->abbrevs.items[i].attr_count;
	}
	table->count = b->abbrevs.len;
	table->is_dense = true;
	for (size_t i = 0; i < table->count; i++)
		table->is_dense = table->is_dense && b->abbrevs.items[i].code == i + 1;
	if (!table->is_dense)
		qsort(b->abbrevs.items, table->count, sizeof(*b->abbrevs.items), by_code);
	table->abbrevs = arena_copy(arena, b->abbrevs.items, table->count * sizeof(*b->abbrevs.items));
	return table->abbrevs ? table : NULL;
}

struct dwarf_abbrev_table *dwarf_abbrev_read(
	struct arena *arena, const struct dwarf_file *file, const struct dwarf_unit *unit, uint64_t last_code)
{
	struct building b = {.abbrevs = {0}};
	struct cursor c = cursor_make(file->sections[DWARF_ABBREV], file->swap);
	if (unit->abbrev_offset < c.len) {
		c.pos = (size_t)unit->abbrev_offset;
		uint64_t code;
		while ((code = cursor_uleb(&c)) != 0)
			if (!read_one(&c, unit, code, &b) || code == last_code ||
				!dwarf_spend(
					file, DWARF_COST_ABBREV_ATTR *
						      (UINT64_C(1) + b.abbrevs.items[b.abbrevs.len - 1].attr_count)))
				break;
	}
	struct dwarf_abbrev_table *table = dwarf_abbrev_make_table(arena, &b);
	vec_free(&b.abbrevs);
	vec_free(&b.attrs);
	return table;
}

const struct dwarf_abbrev *dwarf_abbrev_find(const struct dwarf_abbrev_table *table, uint64_t code)
{
	if (table->is_dense)
		return code - 1 < table->count ? &table->abbrevs[code - 1] : NULL;
	size_t low;
	LOWER_BOUND(low, table->count, middle, table->abbrevs[middle].code < code);
	return low < table->count && table->abbrevs[low].code == code ? &table->abbrevs[low] : NULL;
}
