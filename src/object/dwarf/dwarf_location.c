/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/dwarf_location.h"

#include "base/error.h"
#include "base/leb128.h"
#include "object/dwarf/dwarf_numbers.h"
#include "object/frame_numbers.h"

static bool dwarf_location_read_block(struct dwarf_walk *walk, uint32_t form, struct tally_bytes *block)
{
	struct cursor *c = &walk->cursor;
	uint64_t size;
	switch (form) {
	case DW_FORM_block1:
		size = cursor_u8(c);
		break;
	case DW_FORM_block2:
		size = cursor_u16(c);
		break;
	case DW_FORM_block4:
		size = cursor_u32(c);
		break;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		size = cursor_uleb(c);
		break;
	default:
		return false;
	}
	*block = cursor_bytes(c, size > cursor_left(c) ? cursor_left(c) + 1 : (size_t)size);
	return true;
}

bool dwarf_location_read(struct dwarf_walk *walk, const struct dwarf_attr_spec *spec, struct dwarf_location *location)
{
	struct dwarf_value value;
	*location = (struct dwarf_location){.kind = DWARF_LOCATION_NONE};
	if (dwarf_location_read_block(walk, spec->form, &location->expression)) {
		location->kind = DWARF_LOCATION_EXPRESSION;
	} else if (spec->form == DW_FORM_loclistx) {
		location->kind = DWARF_LOCATION_INDEX;
		location->list = cursor_uleb(&walk->cursor);
	} else if (dwarf_read_value(walk, spec, &value) &&
		   (value.class == DWARF_OFFSET || value.class == DWARF_NUMBER)) {
		location->kind = DWARF_LOCATION_LIST;
		location->list = value.number;
	}
	walk->failed |= walk->cursor.failed;
	return !walk->failed;
}

enum tally_status dwarf_location_lists_open(
	struct dwarf_location_lists *lists, const struct elf_image *image, bool is_split, struct tally_error *err)
{
	static const char *const names[2][2] = {
		{".debug_loc", ".debug_loclists"}, {".debug_loc.dwo", ".debug_loclists.dwo"}};
	*lists = (struct dwarf_location_lists){.loc = {NULL, 0}};
	for (int i = 0; i < 2; i++)
		if (elf_section_open(image, names[is_split][i], &lists->opened[i], NULL) == TALLY_NOMEM) {
			dwarf_location_lists_close(lists);
			return error_nomem(err);
		}
	lists->loc = lists->opened[0].bytes;
	lists->loclists = lists->opened[1].bytes;
	return TALLY_OK;
}

void dwarf_location_lists_close(struct dwarf_location_lists *lists)
{
	elf_section_close(&lists->opened[0]);
	elf_section_close(&lists->opened[1]);
}

/* Returns the offset of the list with this index. DW_AT_loclists_base refers to the table of offsets. */
static uint64_t dwarf_location_indexed_list(const struct dwarf_location_list *list, uint64_t index)
{
	struct cursor c = list->cursor;
	uint64_t base = list->unit->loclists_base;
	if (base > c.len || index >= (c.len - base) / list->unit->offset_size)
		return UINT64_MAX;
	c.pos = (size_t)(base + index * list->unit->offset_size);
	return base + cursor_uint(&c, list->unit->offset_size);
}

void dwarf_location_begin(struct dwarf_location_list *list, const struct dwarf_location_lists *lists,
	const struct dwarf_file *file, const struct dwarf_unit *unit, const struct dwarf_location *location)
{
	uint64_t at = location->list;
	*list = (struct dwarf_location_list){.program = file->program ? file->program : file,
		.unit = unit,
		.base = unit->base,
		.form = DWARF_LIST_DONE};
	if (location->kind == DWARF_LOCATION_EXPRESSION) {
		list->form = DWARF_LIST_PLAIN;
		list->expression = location->expression;
	}
	if (location->kind != DWARF_LOCATION_LIST && location->kind != DWARF_LOCATION_INDEX)
		return;
	list->cursor = cursor_make(unit->version >= 5 ? lists->loclists : lists->loc, file->swap);
	if (location->kind == DWARF_LOCATION_INDEX)
		at = dwarf_location_indexed_list(list, at);
	if (at > list->cursor.len)
		return;
	list->cursor.pos = (size_t)at;
	list->form = unit->version >= 5 ? DWARF_LIST_ENTRIES : file->program ? DWARF_LIST_SPLIT : DWARF_LIST_PAIRS;
}

static bool dwarf_location_next_pair(
	struct dwarf_location_list *list, uint64_t *low, uint64_t *high, struct tally_bytes *expression)
{
	struct cursor *c = &list->cursor;
	unsigned size = list->unit->address_size;
	uint64_t all_ones = size == 8 ? UINT64_MAX : UINT32_MAX;
	while (!c->failed) {
		*low = cursor_uint(c, size);
		*high = cursor_uint(c, size);
		if (*low == all_ones) {
			list->base = *high;
			continue;
		}
		if (*low == 0 && *high == 0)
			return false;
		*expression = cursor_bytes(c, cursor_u16(c));
		*low += list->base;
		*high += list->base;
		if (!c->failed)
			return true;
	}
	return false;
}

static uint64_t dwarf_location_indexed_address(
	const struct dwarf_file *program, const struct dwarf_unit *unit, uint64_t index)
{
	struct cursor c = cursor_make(program->sections[DWARF_ADDR], program->swap);
	if (unit->addr_base > c.len || index >= (c.len - unit->addr_base) / unit->address_size)
		return 0;
	c.pos = (size_t)(unit->addr_base + index * unit->address_size);
	return cursor_uint(&c, unit->address_size);
}

/* Reads an entry of a .dwo file before DWARF 5. Its kinds became the first DW_LLE_* values, but have other operands. */
static bool next_split(struct dwarf_location_list *list, uint64_t *low, uint64_t *high, struct tally_bytes *expression)
{
	struct cursor *c = &list->cursor;
	while (!c->failed) {
		uint8_t kind = cursor_u8(c);
		if (kind == DW_LLE_base_addressx) {
			list->base = dwarf_location_indexed_address(list->program, list->unit, cursor_uleb(c));
			continue;
		}
		if (kind == DW_LLE_startx_endx) {
			*low = dwarf_location_indexed_address(list->program, list->unit, cursor_uleb(c));
			*high = dwarf_location_indexed_address(list->program, list->unit, cursor_uleb(c));
		} else if (kind == DW_LLE_startx_length) {
			*low = dwarf_location_indexed_address(list->program, list->unit, cursor_uleb(c));
			*high = *low + cursor_u32(c);
		} else {
			return false;
		}
		*expression = cursor_bytes(c, cursor_u16(c));
		if (!c->failed)
			return true;
	}
	return false;
}

/* Reads the range of an entry. Returns false if it has none: a new base, or a pair of view numbers. At the end of the
 * list and for an unknown kind, it also sets the cursor's failed. */
static bool read_range(struct dwarf_location_list *list, uint8_t kind, uint64_t *low, uint64_t *high)
{
	struct cursor *c = &list->cursor;
	unsigned size = list->unit->address_size;
	switch (kind) {
	case DW_LLE_base_addressx:
		list->base = dwarf_location_indexed_address(list->program, list->unit, cursor_uleb(c));
		return false;
	case DW_LLE_base_address:
		list->base = cursor_uint(c, size);
		return false;
	case DW_LLE_GNU_view_pair:
		(void)cursor_uleb(c);
		(void)cursor_uleb(c);
		return false;
	case DW_LLE_startx_endx:
		*low = dwarf_location_indexed_address(list->program, list->unit, cursor_uleb(c));
		*high = dwarf_location_indexed_address(list->program, list->unit, cursor_uleb(c));
		return true;
	case DW_LLE_startx_length:
		*low = dwarf_location_indexed_address(list->program, list->unit, cursor_uleb(c));
		*high = *low + cursor_uleb(c);
		return true;
	case DW_LLE_offset_pair:
		*low = list->base + cursor_uleb(c);
		*high = list->base + cursor_uleb(c);
		return true;
	case DW_LLE_default_location:
		*low = 0;
		*high = UINT64_MAX;
		return true;
	case DW_LLE_start_end:
		*low = cursor_uint(c, size);
		*high = cursor_uint(c, size);
		return true;
	case DW_LLE_start_length:
		*low = cursor_uint(c, size);
		*high = *low + cursor_uleb(c);
		return true;
	default:
		c->failed = true;
		return false;
	}
}

static bool dwarf_location_next_entry(
	struct dwarf_location_list *list, uint64_t *low, uint64_t *high, struct tally_bytes *expression)
{
	struct cursor *c = &list->cursor;
	while (!c->failed) {
		if (!read_range(list, cursor_u8(c), low, high))
			continue;
		uint64_t size = cursor_uleb(c);
		*expression = cursor_bytes(c, size > cursor_left(c) ? cursor_left(c) + 1 : (size_t)size);
		if (!c->failed)
			return true;
	}
	return false;
}

bool dwarf_location_next(
	struct dwarf_location_list *list, uint64_t *low, uint64_t *high, struct tally_bytes *expression)
{
	switch (list->form) {
	case DWARF_LIST_PLAIN:
		list->form = DWARF_LIST_DONE;
		*low = 0;
		*high = UINT64_MAX;
		*expression = list->expression;
		return true;
	case DWARF_LIST_PAIRS:
		return dwarf_location_next_pair(list, low, high, expression);
	case DWARF_LIST_SPLIT:
		return next_split(list, low, high, expression);
	case DWARF_LIST_ENTRIES:
		return dwarf_location_next_entry(list, low, high, expression);
	case DWARF_LIST_DONE:
		break;
	}
	return false;
}

uint64_t dwarf_location_address(const struct dwarf_file *file, const struct dwarf_unit *unit, uint64_t index)
{
	return dwarf_location_indexed_address(file->program ? file->program : file, unit, index);
}

struct dwarf_storage dwarf_storage_of(
	struct tally_bytes expression, const struct dwarf_file *file, const struct dwarf_unit *unit)
{
	static const struct dwarf_storage unknown = {.kind = DWARF_STORAGE_UNKNOWN};
	struct cursor c = cursor_make(expression, file->swap);
	if (expression.len == 0)
		return unknown;
	struct dwarf_storage storage = {.kind = DWARF_STORAGE_UNKNOWN};
	uint8_t op = cursor_u8(&c);
	if (op >= DW_OP_reg0 && op <= DW_OP_reg31) {
		storage = (struct dwarf_storage){.kind = DWARF_STORAGE_REGISTER, .reg = op - DW_OP_reg0};
	} else if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		storage = (struct dwarf_storage){.kind = DWARF_STORAGE_AT_REGISTER, .reg = op - DW_OP_breg0};
		storage.offset = cursor_sleb(&c);
	} else if (op == DW_OP_fbreg) {
		storage.kind = DWARF_STORAGE_AT_FRAME_BASE;
		storage.offset = cursor_sleb(&c);
	} else if (op == DW_OP_call_frame_cfa) {
		storage.kind = DWARF_STORAGE_CFA;
	} else if (op == DW_OP_addr) {
		storage.kind = DWARF_STORAGE_AT_ADDRESS;
		storage.address = cursor_uint(&c, unit->address_size);
	} else if (op == DW_OP_addrx || op == DW_OP_GNU_addr_index) {
		storage.kind = DWARF_STORAGE_AT_ADDRESS;
		storage.address =
			dwarf_location_indexed_address(file->program ? file->program : file, unit, cursor_uleb(&c));
	}
	if (!c.failed && cursor_left(&c) == 1 && storage.kind == DWARF_STORAGE_AT_REGISTER &&
		cursor_u8(&c) == DW_OP_stack_value)
		storage.kind = DWARF_STORAGE_SUM;
	return c.failed || cursor_left(&c) > 0 ? unknown : storage;
}
