/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/dwarf_entry.h"

#include "base/array.h"
#include "base/leb128.h"
#include "base/limits.h"
#include "object/dwarf/dwarf_budget.h"
#include "object/dwarf/dwarf_numbers.h"

void dwarf_reader_init(struct dwarf_reader *reader)
{
	*reader = (struct dwarf_reader){0};
	arena_init(&reader->arena);
}

void dwarf_reader_deinit(struct dwarf_reader *reader)
{
	for (size_t i = 0; i < reader->files.len; i++)
		map_u64_deinit(&reader->files.items[i].by_offset);
	vec_free(&reader->files);
	arena_deinit(&reader->arena);
}

static struct map_u64 *dwarf_entry_tables_of(struct dwarf_reader *reader, const struct dwarf_file *file)
{
	if (reader->last_file < reader->files.len && reader->files.items[reader->last_file].file == file)
		return &reader->files.items[reader->last_file].by_offset;
	for (size_t i = 0; i < reader->files.len; i++) {
		if (reader->files.items[i].file == file) {
			reader->last_file = i;
			return &reader->files.items[i].by_offset;
		}
	}
	if (!vec_push(&reader->files, ((struct dwarf_file_tables){.file = file})))
		return NULL;
	reader->last_file = reader->files.len - 1;
	return &reader->files.items[reader->last_file].by_offset;
}

static const struct dwarf_abbrev_table *abbrev_table(
	struct dwarf_reader *reader, const struct dwarf_file *file, const struct dwarf_unit *unit)
{
	struct map_u64 *tables = dwarf_entry_tables_of(reader, file);
	/* Sizes of attributes depend on the unit's sizes and version, so these are part of the key. */
	uint64_t key = unit->abbrev_offset << 8 | (uint64_t)(unit->version & 7) << 5 |
		       (uint64_t)unit->address_size << 1 | (unit->offset_size == 8);
	uint64_t *slot = tables ? map_u64_at(tables, key, NULL) : NULL;
	if (!slot) {
		reader->out_of_memory = true;
		return NULL;
	}
	if (!*slot) {
		struct dwarf_abbrev_table *table = dwarf_abbrev_read(&reader->arena, file, unit, DWARF_ABBREV_ALL);
		reader->out_of_memory |= !table;
		*slot = (uint64_t)(uintptr_t)table;
	}
	return (const struct dwarf_abbrev_table *)(uintptr_t)*slot;
}

bool dwarf_walk_unit(struct dwarf_walk *walk, struct dwarf_reader *reader, const struct dwarf_file *file,
	const struct dwarf_unit *unit)
{
	struct tally_bytes info = file->sections[DWARF_INFO];
	*walk = (struct dwarf_walk){.reader = reader, .file = file, .unit = unit};
	walk->table = abbrev_table(reader, file, unit);
	walk->cursor = cursor_make((struct tally_bytes){info.data, (size_t)unit->end}, file->swap);
	walk->cursor.pos = (size_t)unit->first_entry;
	walk->failed = !walk->table;
	return !walk->failed;
}

bool dwarf_next(struct dwarf_walk *walk, struct dwarf_entry *entry)
{
	struct cursor *c = &walk->cursor;
	while (!walk->failed && cursor_left(c) > 0) {
		size_t at = c->pos;
		uint64_t code = cursor_uleb(c);
		if (code == 0) { /* A zero ends a list of siblings, or is padding. */
			walk->depth -= walk->depth > 0;
			continue;
		}
		const struct dwarf_abbrev *abbrev = dwarf_abbrev_find(walk->table, code);
		if (!abbrev || walk->depth > LIMIT_DWARF_DEPTH)
			break;
		walk->attrs += abbrev->attr_count;
		if (walk->attrs / DWARF_ATTRS_PER_BYTE > walk->unit->end - walk->unit->offset)
			break;
		*entry = (struct dwarf_entry){.offset = at, .abbrev = abbrev, .depth = walk->depth};
		walk->depth += abbrev->has_children;
		return true;
	}
	walk->failed |= cursor_left(c) > 0 || c->failed;
	return false;
}

bool dwarf_entry_at(struct dwarf_walk *walk, uint64_t offset, struct dwarf_entry *entry)
{
	if (offset < walk->unit->first_entry || offset >= walk->unit->end)
		return false;
	walk->cursor.pos = (size_t)offset;
	walk->depth = 0;
	uint64_t code = cursor_uleb(&walk->cursor);
	const struct dwarf_abbrev *abbrev = code ? dwarf_abbrev_find(walk->table, code) : NULL;
	if (!abbrev)
		return false;
	*entry = (struct dwarf_entry){.offset = offset, .abbrev = abbrev};
	return true;
}

void dwarf_skip_children(struct dwarf_walk *walk, const struct dwarf_entry *entry, uint64_t sibling)
{
	if (sibling <= walk->cursor.pos || sibling > walk->unit->end)
		return;
	walk->cursor.pos = (size_t)sibling;
	walk->depth = entry->depth;
}

static struct tally_str text_at(const struct dwarf_file *file, enum dwarf_section section, uint64_t offset)
{
	struct tally_bytes bytes = file ? file->sections[section] : (struct tally_bytes){NULL, 0};
	if (offset >= bytes.len)
		return (struct tally_str){"", 0};
	size_t room = bytes.len - (size_t)offset;
	const char *text = (const char *)bytes.data + offset;
	size_t length = strnlen(text, MIN(room, DWARF_LONG_TEXT));
	for (size_t end = length; length == end && length < room;) {
		if (!dwarf_spend(file, DWARF_LONG_TEXT / DWARF_SCANNED_PER_COST))
			return (struct tally_str){"", 0};
		end += MIN(room - end, DWARF_LONG_TEXT);
		length += strnlen(text + length, end - length);
	}
	return (struct tally_str){text, length};
}

/* Returns the item at an index of a table of offsets or addresses that begins at base; 0 if it lies outside. */
static uint64_t table_item(struct tally_bytes bytes, bool swap, uint64_t base, uint64_t index, unsigned size)
{
	struct cursor c = cursor_make(bytes, swap);
	if (base > bytes.len || index > (bytes.len - base) / size)
		return 0;
	c.pos = (size_t)(base + index * size);
	return cursor_uint(&c, size);
}

static void set_indexed_text(const struct dwarf_walk *walk, uint64_t index, struct dwarf_value *value)
{
	const struct dwarf_unit *unit = walk->unit;
	uint64_t offset = table_item(walk->file->sections[DWARF_STR_OFFSETS], walk->file->swap, unit->str_offsets_base,
		index, unit->offset_size);
	value->class = DWARF_TEXT;
	value->text = text_at(walk->file, DWARF_STR, offset);
}

static void set_indexed_address(const struct dwarf_walk *walk, uint64_t index, struct dwarf_value *value)
{
	const struct dwarf_file *file = walk->file->program ? walk->file->program : walk->file;
	value->class = DWARF_ADDRESS;
	value->number = table_item(
		file->sections[DWARF_ADDR], file->swap, walk->unit->addr_base, index, walk->unit->address_size);
}

static void dwarf_entry_set_text(const struct dwarf_walk *walk, uint32_t form, struct dwarf_value *value)
{
	uint64_t offset = cursor_uint((struct cursor *)&walk->cursor, walk->unit->offset_size);
	value->class = DWARF_TEXT;
	if (form == DW_FORM_line_strp)
		value->text = text_at(walk->file, DWARF_LINE_STR, offset);
	else
		value->text = text_at(form == DW_FORM_strp ? walk->file : walk->file->supplement, DWARF_STR, offset);
}

static void set_inline_text(struct cursor *c, struct dwarf_value *value)
{
	const char *text = (const char *)c->data + c->pos;
	size_t length = strnlen(text, cursor_left(c));
	value->class = DWARF_TEXT;
	value->text = (struct tally_str){text, length};
	cursor_skip(c, length + 1);
}

static void dwarf_entry_set_number(struct dwarf_value *value, enum dwarf_class class, uint64_t number)
{
	value->class = class;
	value->number = number;
}

/* Reads strings, directly or by index. Returns false if the form is not of this class. */
static bool read_text_form(struct dwarf_walk *walk, uint32_t form, struct dwarf_value *value)
{
	struct cursor *c = &walk->cursor;
	switch (form) {
	case DW_FORM_string:
		set_inline_text(c, value);
		return true;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		dwarf_entry_set_text(walk, form, value);
		return true;
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		set_indexed_text(walk, cursor_uleb(c), value);
		return true;
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
		set_indexed_text(walk, cursor_uint(c, form - DW_FORM_strx1 + 1), value);
		return true;
	default:
		return false;
	}
}

static bool read_reference_form(struct dwarf_walk *walk, uint32_t form, struct dwarf_value *value)
{
	struct cursor *c = &walk->cursor;
	uint64_t unit = walk->unit->offset;
	switch (form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
		dwarf_entry_set_number(value, DWARF_REFERENCE, unit + cursor_uint(c, 1u << (form - DW_FORM_ref1)));
		return true;
	case DW_FORM_ref_udata:
		dwarf_entry_set_number(value, DWARF_REFERENCE, unit + cursor_uleb(c));
		return true;
	case DW_FORM_ref_addr:
		dwarf_entry_set_number(value, DWARF_REFERENCE,
			cursor_uint(c, walk->unit->version < 3 ? walk->unit->address_size : walk->unit->offset_size));
		return true;
	case DW_FORM_GNU_ref_alt:
		dwarf_entry_set_number(value, DWARF_REFERENCE_SUPPLEMENT, cursor_uint(c, walk->unit->offset_size));
		return true;
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		dwarf_entry_set_number(
			value, DWARF_REFERENCE_SUPPLEMENT, cursor_uint(c, form == DW_FORM_ref_sup4 ? 4 : 8));
		return true;
	case DW_FORM_ref_sig8:
		dwarf_entry_set_number(value, DWARF_REFERENCE_TYPE, cursor_u64(c));
		return true;
	default:
		return false;
	}
}

static bool read_number_form(struct dwarf_walk *walk, const struct dwarf_attr_spec *spec, struct dwarf_value *value)
{
	struct cursor *c = &walk->cursor;
	switch (spec->form) {
	case DW_FORM_data1:
	case DW_FORM_flag:
		dwarf_entry_set_number(value, DWARF_NUMBER, cursor_u8(c));
		return true;
	case DW_FORM_data2:
		dwarf_entry_set_number(value, DWARF_NUMBER, cursor_u16(c));
		return true;
	case DW_FORM_data4:
		dwarf_entry_set_number(value, DWARF_NUMBER, cursor_u32(c));
		return true;
	case DW_FORM_data8:
		dwarf_entry_set_number(value, DWARF_NUMBER, cursor_u64(c));
		return true;
	case DW_FORM_udata:
		dwarf_entry_set_number(value, DWARF_NUMBER, cursor_uleb(c));
		return true;
	case DW_FORM_sdata:
		dwarf_entry_set_number(value, DWARF_NUMBER, (uint64_t)cursor_sleb(c));
		return true;
	case DW_FORM_flag_present:
		dwarf_entry_set_number(value, DWARF_NUMBER, 1);
		return true;
	case DW_FORM_implicit_const:
		dwarf_entry_set_number(value, DWARF_NUMBER, (uint64_t)spec->implicit);
		return true;
	case DW_FORM_sec_offset:
		dwarf_entry_set_number(value, DWARF_OFFSET, cursor_uint(c, walk->unit->offset_size));
		return true;
	case DW_FORM_rnglistx:
		dwarf_entry_set_number(value, DWARF_RANGE_INDEX, cursor_uleb(c));
		return true;
	default:
		return false;
	}
}

static bool read_address_form(struct dwarf_walk *walk, uint32_t form, struct dwarf_value *value)
{
	struct cursor *c = &walk->cursor;
	switch (form) {
	case DW_FORM_addr:
		dwarf_entry_set_number(value, DWARF_ADDRESS, cursor_uint(c, walk->unit->address_size));
		return true;
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index:
		set_indexed_address(walk, cursor_uleb(c), value);
		return true;
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
		set_indexed_address(walk, cursor_uint(c, form - DW_FORM_addrx1 + 1), value);
		return true;
	default:
		return false;
	}
}

bool dwarf_read_value(struct dwarf_walk *walk, const struct dwarf_attr_spec *spec, struct dwarf_value *value)
{
	*value = (struct dwarf_value){.class = DWARF_NONE};
	if (spec->form == DW_FORM_indirect) {
		struct dwarf_attr_spec direct = {.name = spec->name, .form = (uint32_t)cursor_uleb(&walk->cursor)};
		/* An indirect form must not refer to another indirect form. */
		if (direct.form == DW_FORM_indirect || direct.form == DW_FORM_implicit_const)
			walk->cursor.failed = true;
		else
			return dwarf_read_value(walk, &direct, value);
	} else if (!read_number_form(walk, spec, value) && !read_text_form(walk, spec->form, value) &&
		   !read_address_form(walk, spec->form, value) && !read_reference_form(walk, spec->form, value)) {
		dwarf_skip_value(walk, spec);
	}
	walk->failed |= walk->cursor.failed;
	return !walk->failed;
}

void dwarf_skip_value(struct dwarf_walk *walk, const struct dwarf_attr_spec *spec)
{
	struct cursor *c = &walk->cursor;
	uint32_t form = spec->form == DW_FORM_indirect ? (uint32_t)cursor_uleb(c) : spec->form;
	int size = dwarf_form_size(walk->unit, form);
	if (size >= 0) {
		cursor_skip(c, (size_t)size);
		return;
	}
	switch (form) {
	case DW_FORM_string:
		cursor_skip(c, strnlen((const char *)c->data + c->pos, cursor_left(c)) + 1);
		break;
	case DW_FORM_block1:
		cursor_skip(c, cursor_u8(c));
		break;
	case DW_FORM_block2:
		cursor_skip(c, cursor_u16(c));
		break;
	case DW_FORM_block4:
		cursor_skip(c, cursor_u32(c));
		break;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		cursor_skip(c, cursor_uleb(c));
		break;
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		(void)cursor_uleb(c);
		break;
	default:
		c->failed = true; /* An unknown form has an unknown size. */
		break;
	}
}

void dwarf_skip_values(struct dwarf_walk *walk, const struct dwarf_entry *entry)
{
	const struct dwarf_abbrev *abbrev = entry->abbrev;
	if (abbrev->fixed_size >= 0) {
		cursor_skip(&walk->cursor, (size_t)abbrev->fixed_size);
	} else {
		for (uint32_t i = 0; i < abbrev->attr_count && !walk->cursor.failed; i++)
			dwarf_skip_value(walk, &abbrev->attrs[i]);
	}
	walk->failed |= walk->cursor.failed;
}
