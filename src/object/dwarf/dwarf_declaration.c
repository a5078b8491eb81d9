/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/dwarf_declaration.h"

#include "base/limits.h"
#include "object/dwarf/dwarf_file.h"
#include "object/dwarf/dwarf_numbers.h"
#include "object/dwarf/dwarf_ranges.h"

void dwarf_declaration_begin(struct dwarf_declaration *declaration, const struct dwarf_file *file, uint64_t entry)
{
	*declaration = (struct dwarf_declaration){
		.root_file = file, .root = entry, .next_file = file, .next = entry, .is_abstract = true};
}

/* Values from earlier entries take precedence. */
static void dwarf_declaration_take(
	struct dwarf_declaration *d, const struct dwarf_walk *walk, uint32_t name, const struct dwarf_value *value)
{
	bool is_text = value->class == DWARF_TEXT && value->text.len > 0;
	switch (name) {
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		if (is_text && !d->linkage.data)
			d->linkage = value->text;
		break;
	case DW_AT_name:
		if (is_text && !d->name.data)
			d->name = value->text;
		break;
	case DW_AT_decl_line:
		if (d->line == 0 && value->class == DWARF_NUMBER)
			d->line = (uint32_t)value->number;
		break;
	case DW_AT_decl_file:
		if (d->path_file || value->class != DWARF_NUMBER)
			break;
		d->path = value->number;
		d->path_file = walk->file;
		d->path_unit = walk->unit;
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		d->next = value->number;
		d->is_abstract = name == DW_AT_abstract_origin;
		if (value->class == DWARF_REFERENCE)
			d->next_file = walk->file;
		else if (value->class == DWARF_REFERENCE_SUPPLEMENT)
			d->next_file = walk->file->supplement;
		break;
	default:
		break;
	}
}

bool dwarf_declaration_next(struct dwarf_declaration *d, struct dwarf_reader *reader)
{
	const struct dwarf_file *file = d->next_file;
	uint64_t at = d->next;
	const struct dwarf_unit *unit = file ? dwarf_file_unit_at(file, at) : NULL;
	struct dwarf_walk walk;
	struct dwarf_entry entry;
	d->next_file = NULL;
	if (!unit || !dwarf_walk_unit(&walk, reader, file, unit) || !dwarf_entry_at(&walk, at, &entry))
		return false;
	if (d->is_abstract) {
		d->root_file = file;
		d->root = at;
	}
	d->is_abstract = false;
	for (uint32_t i = 0; i < entry.abbrev->attr_count; i++) {
		const struct dwarf_attr_spec *spec = &entry.abbrev->attrs[i];
		struct dwarf_value value;
		if (!dwarf_read_value(&walk, spec, &value))
			break;
		dwarf_declaration_take(d, &walk, spec->name, &value);
	}
	return true;
}

bool dwarf_declaration_read(
	struct dwarf_declaration *d, struct dwarf_reader *reader, const struct dwarf_file *file, uint64_t entry)
{
	dwarf_declaration_begin(d, file, entry);
	if (!dwarf_declaration_next(d, reader))
		return false;
	for (unsigned step = 1; step < LIMIT_DWARF_ORIGINS && d->next_file; step++)
		if (!dwarf_declaration_next(d, reader))
			break;
	return true;
}

struct tally_str dwarf_function_name(struct dwarf_reader *reader, const struct dwarf_file *file, uint64_t entry)
{
	struct dwarf_declaration d;
	dwarf_declaration_begin(&d, file, entry);
	for (unsigned step = 0; step < LIMIT_DWARF_ORIGINS && d.next_file && !d.linkage.data; step++)
		if (!dwarf_declaration_next(&d, reader))
			break;
	return d.linkage.data ? d.linkage : d.name;
}

struct dwarf_declaration_code {
	struct dwarf_extent extent;
	struct dwarf_value entered;
};

bool dwarf_function_entered(struct dwarf_reader *reader, const struct dwarf_file *file, const struct dwarf_unit *unit,
	uint64_t at, uint64_t *address)
{
	struct dwarf_walk walk;
	struct dwarf_entry entry;
	struct dwarf_declaration_code code = {.entered = {.class = DWARF_NONE}};
	if (!dwarf_walk_unit(&walk, reader, file, unit) || !dwarf_entry_at(&walk, at, &entry))
		return false;
	for (uint32_t i = 0; i < entry.abbrev->attr_count; i++) {
		struct dwarf_value value;
		if (!dwarf_read_value(&walk, &entry.abbrev->attrs[i], &value))
			return false;
		uint32_t name = entry.abbrev->attrs[i].name;
		if (name == DW_AT_low_pc)
			code.extent.low = value;
		else if (name == DW_AT_high_pc)
			code.extent.high = value;
		else if (name == DW_AT_ranges)
			code.extent.ranges = value;
		else if (name == DW_AT_entry_pc)
			code.entered = value;
	}
	if (code.entered.class == DWARF_ADDRESS) {
		*address = code.entered.number;
		return true;
	}
	struct dwarf_ranges ranges;
	uint64_t low;
	uint64_t high;
	dwarf_ranges_extent(&ranges, file, unit, &code.extent);
	if (!dwarf_ranges_next(&ranges, &low, &high))
		return false;
	if (code.extent.low.class == DWARF_ADDRESS)
		low = code.extent.low.number;
	*address = low + (code.entered.class == DWARF_NUMBER ? code.entered.number : 0);
	return true;
}

struct tally_str dwarf_unit_producer(
	struct dwarf_reader *reader, const struct dwarf_file *file, const struct dwarf_unit *unit)
{
	struct dwarf_walk walk;
	struct dwarf_entry entry;
	struct dwarf_value value;
	if (!dwarf_walk_unit(&walk, reader, file, unit) || !dwarf_next(&walk, &entry))
		return (struct tally_str){NULL, 0};
	for (uint32_t i = 0; i < entry.abbrev->attr_count; i++) {
		if (!dwarf_read_value(&walk, &entry.abbrev->attrs[i], &value))
			break;
		if (entry.abbrev->attrs[i].name == DW_AT_producer && value.class == DWARF_TEXT)
			return value.text;
	}
	return (struct tally_str){NULL, 0};
}
