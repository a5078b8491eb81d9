/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/dwarf_ranges.h"

#include "base/leb128.h"
#include "object/dwarf/dwarf_numbers.h"

/* Returns the offset of the list with this index. The table of offsets is at ranges_base, which they are relative
 * to. */
static uint64_t dwarf_ranges_indexed_list(const struct dwarf_file *file, const struct dwarf_unit *unit, uint64_t index)
{
	struct cursor c = cursor_make(file->sections[DWARF_RNGLISTS], file->swap);
	if (unit->ranges_base > c.len || index >= (c.len - unit->ranges_base) / unit->offset_size)
		return UINT64_MAX;
	c.pos = (size_t)(unit->ranges_base + index * unit->offset_size);
	return unit->ranges_base + cursor_uint(&c, unit->offset_size);
}

void dwarf_ranges_list(struct dwarf_ranges *ranges, const struct dwarf_file *file, const struct dwarf_unit *unit,
	enum dwarf_class class, uint64_t number)
{
	const struct dwarf_file *program = file->program ? file->program : file;
	bool is_rnglist = unit->version >= 5;
	*ranges = (struct dwarf_ranges){.program = program,
		.unit = unit,
		.base = unit->base,
		.form = is_rnglist ? DWARF_RANGES_RNGLIST : DWARF_RANGES_PAIRS};
	/* Before DWARF 5, the lists of a .dwo file are in the program, after those of the skeleton. */
	const struct dwarf_file *from = is_rnglist ? file : program;
	if (class == DWARF_RANGE_INDEX)
		number = dwarf_ranges_indexed_list(file, unit, number);
	else if (!is_rnglist && file->program)
		number += unit->ranges_base;
	ranges->cursor = cursor_make(from->sections[is_rnglist ? DWARF_RNGLISTS : DWARF_RANGES], from->swap);
	if (number > ranges->cursor.len)
		ranges->cursor.failed = true;
	else
		ranges->cursor.pos = (size_t)number;
}

static bool dwarf_ranges_next_pair(struct dwarf_ranges *ranges, uint64_t *low, uint64_t *high)
{
	struct cursor *c = &ranges->cursor;
	unsigned size = ranges->unit->address_size;
	uint64_t all_ones = size == 8 ? UINT64_MAX : UINT32_MAX;
	for (;;) {
		*low = cursor_uint(c, size);
		*high = cursor_uint(c, size);
		if (c->failed || (*low == 0 && *high == 0))
			return false;
		if (*low == all_ones) {
			ranges->base = *high;
			continue;
		}
		*low += ranges->base;
		*high += ranges->base;
		if (*low < *high)
			return true;
	}
}

static uint64_t dwarf_ranges_indexed_address(const struct dwarf_ranges *ranges, uint64_t index)
{
	const struct dwarf_unit *unit = ranges->unit;
	struct cursor c = cursor_make(ranges->program->sections[DWARF_ADDR], ranges->program->swap);
	if (unit->addr_base > c.len || index >= (c.len - unit->addr_base) / unit->address_size)
		return 0;
	c.pos = (size_t)(unit->addr_base + index * unit->address_size);
	return cursor_uint(&c, unit->address_size);
}

static bool next_rnglist(struct dwarf_ranges *ranges, uint64_t *low, uint64_t *high)
{
	struct cursor *c = &ranges->cursor;
	unsigned size = ranges->unit->address_size;
	while (!c->failed) {
		uint8_t kind = cursor_u8(c);
		*low = *high = 0;
		switch (kind) {
		case DW_RLE_base_addressx:
			ranges->base = dwarf_ranges_indexed_address(ranges, cursor_uleb(c));
			break;
		case DW_RLE_base_address:
			ranges->base = cursor_uint(c, size);
			break;
		case DW_RLE_startx_endx:
			*low = dwarf_ranges_indexed_address(ranges, cursor_uleb(c));
			*high = dwarf_ranges_indexed_address(ranges, cursor_uleb(c));
			break;
		case DW_RLE_startx_length:
			*low = dwarf_ranges_indexed_address(ranges, cursor_uleb(c));
			*high = *low + cursor_uleb(c);
			break;
		case DW_RLE_offset_pair:
			*low = ranges->base + cursor_uleb(c);
			*high = ranges->base + cursor_uleb(c);
			break;
		case DW_RLE_start_end:
			*low = cursor_uint(c, size);
			*high = cursor_uint(c, size);
			break;
		case DW_RLE_start_length:
			*low = cursor_uint(c, size);
			*high = *low + cursor_uleb(c);
			break;
		default: /* This is the end of the list, or an unknown kind. */
			c->failed = true;
			break;
		}
		if (!c->failed && *low < *high)
			return true;
	}
	return false;
}

bool dwarf_extent_set(struct dwarf_extent *extent, uint32_t attribute, const struct dwarf_value *value)
{
	switch (attribute) {
	case DW_AT_low_pc:
		extent->low = *value;
		return true;
	case DW_AT_high_pc:
		extent->high = *value;
		return true;
	case DW_AT_ranges:
		extent->ranges = *value;
		return true;
	default:
		return false;
	}
}

void dwarf_ranges_extent(struct dwarf_ranges *ranges, const struct dwarf_file *file, const struct dwarf_unit *unit,
	const struct dwarf_extent *extent)
{
	enum dwarf_class class = extent->ranges.class == DWARF_NUMBER ? DWARF_OFFSET : extent->ranges.class;
	if (class != DWARF_NONE) {
		dwarf_ranges_list(ranges, file, unit, class, extent->ranges.number);
		return;
	}
	*ranges = (struct dwarf_ranges){.low = extent->low.number, .form = DWARF_RANGES_DONE};
	if (extent->low.class == DWARF_NONE)
		return;
	if (extent->high.class == DWARF_ADDRESS)
		ranges->high = extent->high.number;
	else if (extent->high.class == DWARF_NUMBER)
		ranges->high = ranges->low + extent->high.number;
	if (ranges->low < ranges->high)
		ranges->form = DWARF_RANGES_SINGLE;
}

bool dwarf_ranges_next(struct dwarf_ranges *ranges, uint64_t *low, uint64_t *high)
{
	switch (ranges->form) {
	case DWARF_RANGES_PAIRS:
		return !ranges->cursor.failed && dwarf_ranges_next_pair(ranges, low, high);
	case DWARF_RANGES_RNGLIST:
		return !ranges->cursor.failed && next_rnglist(ranges, low, high);
	case DWARF_RANGES_SINGLE:
		ranges->form = DWARF_RANGES_DONE;
		*low = ranges->low;
		*high = ranges->high;
		return true;
	case DWARF_RANGES_DONE:
		break;
	}
	return false;
}
