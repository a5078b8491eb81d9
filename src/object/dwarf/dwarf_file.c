/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/dwarf_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/leb128.h"
#include "base/order.h"
#include "object/dwarf/dwarf_budget.h"
#include "object/dwarf/dwarf_entry.h"
#include "object/dwarf/dwarf_numbers.h"

/* Header size of .debug_str_offsets.dwo. Split units have no attribute for the bases of this section and of lists. */
#define SPLIT_HEADER_32 8
#define SPLIT_HEADER_64 16
#define LISTS_HEADER_32 12 /* Header size of .debug_rnglists.dwo and .debug_loclists.dwo. */
#define LISTS_HEADER_64 20

static const char *const section_names[DWARF_SECTIONS] = {
	[DWARF_INFO] = ".debug_info",
	[DWARF_ABBREV] = ".debug_abbrev",
	[DWARF_LINE] = ".debug_line",
	[DWARF_STR] = ".debug_str",
	[DWARF_LINE_STR] = ".debug_line_str",
	[DWARF_RANGES] = ".debug_ranges",
	[DWARF_RNGLISTS] = ".debug_rnglists",
	[DWARF_ADDR] = ".debug_addr",
	[DWARF_STR_OFFSETS] = ".debug_str_offsets",
};

enum unit_kind { UNIT_UNREADABLE, UNIT_OF_CODE, UNIT_OF_TYPE };

/* Reads the unit header at c. Returns false if the next header cannot be found. of_types: all units are type units,
 * which headers do not tell before DWARF 5. */
static bool dwarf_file_read_header(struct cursor *c, bool of_types, struct dwarf_unit *unit,
	struct dwarf_signature *signature, enum unit_kind *kind)
{
	*unit = (struct dwarf_unit){.offset = c->pos, .offset_size = 4};
	uint64_t length = cursor_u32(c);
	if (length == UINT32_MAX) {
		length = cursor_u64(c);
		unit->offset_size = 8;
	}
	if (c->failed || length > cursor_left(c))
		return false;
	unit->end = c->pos + length;
	struct cursor h = *c;
	h.len = (size_t)unit->end;
	c->pos = (size_t)unit->end;
	unit->version = cursor_u16(&h);
	uint8_t type = DW_UT_compile;
	if (unit->version >= 5) {
		type = cursor_u8(&h);
		unit->address_size = cursor_u8(&h);
		unit->abbrev_offset = cursor_uint(&h, unit->offset_size);
	} else {
		unit->abbrev_offset = cursor_uint(&h, unit->offset_size);
		unit->address_size = cursor_u8(&h);
	}
	if (type == DW_UT_skeleton || type == DW_UT_split_compile)
		unit->dwo_id = cursor_u64(&h);
	bool is_type = unit->version < 5 ? of_types : type == DW_UT_type || type == DW_UT_split_type;
	if (is_type) {
		signature->signature = cursor_u64(&h);
		signature->entry = unit->offset + cursor_uint(&h, unit->offset_size);
	}
	unit->is_skeleton = type == DW_UT_skeleton;
	unit->first_entry = h.pos;
	bool is_readable = !h.failed && unit->version >= 2 && unit->version <= 5 &&
			   (unit->address_size == 4 || unit->address_size == 8);
	*kind = !is_readable ? UNIT_UNREADABLE : is_type ? UNIT_OF_TYPE : UNIT_OF_CODE;
	return true;
}

/* Sets the bases that the values of other attributes depend on. */
static void set_bases(struct dwarf_unit *unit, uint32_t name, const struct dwarf_value *value)
{
	switch (name) {
	case DW_AT_str_offsets_base:
		unit->str_offsets_base = value->number;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		unit->addr_base = value->number;
		break;
	case DW_AT_rnglists_base:
	case DW_AT_GNU_ranges_base:
		unit->ranges_base = value->number;
		break;
	case DW_AT_loclists_base:
		unit->loclists_base = value->number;
		break;
	default:
		break;
	}
}

static void set_attribute(struct dwarf_unit *unit, uint32_t name, const struct dwarf_value *value)
{
	switch (name) {
	case DW_AT_name:
		unit->name = value->text;
		break;
	case DW_AT_comp_dir:
		unit->comp_dir = value->text;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		unit->dwo_name = value->text;
		unit->is_skeleton = true;
		break;
	case DW_AT_GNU_dwo_id:
		unit->dwo_id = value->number;
		break;
	case DW_AT_language:
		unit->language = (uint16_t)value->number;
		break;
	case DW_AT_stmt_list:
		unit->line_offset = value->number;
		unit->has_lines = true;
		break;
	case DW_AT_low_pc:
		unit->low_pc = unit->base = value->number;
		break;
	case DW_AT_ranges:
		unit->ranges = value->number;
		unit->ranges_form = (uint8_t)(value->class == DWARF_NUMBER ? DWARF_OFFSET : value->class);
		break;
	default:
		break;
	}
}

/* Reads the attributes of the unit's own entry twice, because values depend on bases that may follow them. */
static bool read_unit_entry(struct dwarf_file *file, struct dwarf_unit *unit, struct arena *arena)
{
	struct tally_bytes info = file->sections[DWARF_INFO];
	struct dwarf_walk walk = {.file = file, .unit = unit};
	walk.cursor = cursor_make((struct tally_bytes){info.data, (size_t)unit->end}, file->swap);
	walk.cursor.pos = (size_t)unit->first_entry;
	uint64_t code = cursor_uleb(&walk.cursor);
	const struct dwarf_abbrev_table *table = dwarf_abbrev_read(arena, file, unit, code);
	const struct dwarf_abbrev *abbrev = table && code ? dwarf_abbrev_find(table, code) : NULL;
	if (!abbrev)
		return false;
	size_t at = walk.cursor.pos;
	struct dwarf_value high = {.class = DWARF_NONE};
	for (unsigned pass = 0; pass < 2; pass++) {
		walk.cursor.pos = at;
		for (uint32_t i = 0; i < abbrev->attr_count; i++) {
			struct dwarf_value value;
			if (!dwarf_read_value(&walk, &abbrev->attrs[i], &value))
				return false;
			if (pass == 0)
				set_bases(unit, abbrev->attrs[i].name, &value);
			else if (abbrev->attrs[i].name == DW_AT_high_pc)
				high = value;
			else
				set_attribute(unit, abbrev->attrs[i].name, &value);
		}
	}
	if (high.class != DWARF_NONE)
		unit->high_pc = high.class == DWARF_ADDRESS ? high.number : unit->low_pc + high.number;
	return true;
}

static bool keep_unit(struct dwarf_file *file, const struct dwarf_unit *unit, enum unit_kind kind,
	const struct dwarf_signature *signature)
{
	if (kind == UNIT_OF_CODE)
		return vec_push(&file->units, *unit);
	return vec_push(&file->type_units, *unit) && vec_push(&file->signatures, *signature);
}

static int compare_signatures(const void *left, const void *right)
{
	const struct dwarf_signature *a = left, *b = right;
	return COMPARE(a->signature, b->signature);
}

static enum tally_status dwarf_file_read_units(struct dwarf_file *file, struct tally_error *err)
{
	struct cursor c = cursor_make(file->sections[DWARF_INFO], file->swap);
	struct arena arena;
	enum tally_status status = TALLY_OK;
	arena_init(&arena);
	/* Split units share the program's budget, because many of them may refer to the same list or table of the
	 * program. */
	file->budget = file->program ? file->program->budget : &file->own_budget;
	if (file->budget)
		dwarf_budget_add(file->budget, file->sections);
	while (cursor_left(&c) > 0 && status == TALLY_OK) {
		struct dwarf_unit unit;
		struct dwarf_signature signature = {0};
		enum unit_kind kind;
		if (!dwarf_file_read_header(&c, file->is_types, &unit, &signature, &kind)) {
			file->damaged++;
			break;
		}
		if (kind == UNIT_UNREADABLE)
			continue;
		if (file->is_split && unit.version >= 5) {
			unit.str_offsets_base = unit.offset_size == 8 ? SPLIT_HEADER_64 : SPLIT_HEADER_32;
			unit.ranges_base = unit.loclists_base =
				unit.offset_size == 8 ? LISTS_HEADER_64 : LISTS_HEADER_32;
		}
		if (!read_unit_entry(file, &unit, &arena))
			file->damaged++;
		else if (!keep_unit(file, &unit, kind, &signature))
			status = error_nomem(err);
		if (arena.used > (1u << 20)) { /* Units do not borrow from the arena. */
			arena_deinit(&arena);
			arena_init(&arena);
		}
	}
	arena_deinit(&arena);
	if (file->signatures.len > 0)
		qsort(file->signatures.items, file->signatures.len, sizeof(*file->signatures.items),
			compare_signatures);
	return status;
}

/* Opens .debug_types as a file of its own, which borrows the other sections. */
static enum tally_status dwarf_file_read_types(
	struct dwarf_file *file, const struct elf_image *image, const char *suffix, struct tally_error *err)
{
	char name[32];
	struct elf_section section = {0};
	struct tally_error reason = {0};
	snprintf(name, sizeof(name), ".debug_types%s", suffix);
	enum tally_status status = elf_section_open_all(image, name, &section, &reason);
	if (status != TALLY_OK)
		return status == TALLY_NOMEM ? error_nomem(err) : TALLY_OK;
	file->types = calloc(1, sizeof(*file->types));
	if (!file->types) {
		elf_section_close(&section);
		return error_nomem(err);
	}
	*file->types = (struct dwarf_file){.program = file->program,
		.supplement = file->supplement,
		.swap = file->swap,
		.is_split = file->is_split,
		.is_types = true};
	memcpy(file->types->sections, file->sections, sizeof(file->sections));
	file->types->opened[DWARF_INFO] = section;
	file->types->sections[DWARF_INFO] = section.bytes;
	return dwarf_file_read_units(file->types, err);
}

static enum tally_status open_sections(struct dwarf_file *file, const struct elf_image *image, struct tally_error *err)
{
	for (int i = 0; i < DWARF_SECTIONS; i++) {
		char name[32];
		snprintf(name, sizeof(name), "%s%s", section_names[i], file->is_split ? ".dwo" : "");
		struct tally_error reason = {0};
		enum tally_status status = i == DWARF_INFO && file->is_split
						   ? elf_section_open_all(image, name, &file->opened[i], &reason)
						   : elf_section_open(image, name, &file->opened[i], &reason);
		if (status == TALLY_NOMEM)
			return error_nomem(err);
		if (status != TALLY_OK && (i == DWARF_INFO || i == DWARF_ABBREV)) {
			if (err)
				*err = reason;
			return status;
		}
		file->sections[i] = file->opened[i].bytes;
	}
	return TALLY_OK;
}

static enum tally_status dwarf_file_open_file(
	const struct elf_image *image, const struct dwarf_file *from, struct dwarf_file **out, struct tally_error *err)
{
	struct dwarf_file *file = calloc(1, sizeof(*file));
	if (!file)
		return error_nomem(err);
	*file = *from;
	file->swap = elf_image_is_swapped(image);
	enum tally_status status = open_sections(file, image, err);
	if (status == TALLY_OK)
		status = dwarf_file_read_units(file, err);
	if (status == TALLY_OK)
		status = dwarf_file_read_types(file, image, file->is_split ? ".dwo" : "", err);
	if (status != TALLY_OK) {
		dwarf_file_close(file);
		return status;
	}
	*out = file;
	return TALLY_OK;
}

enum tally_status dwarf_file_open(const struct elf_image *image, const struct dwarf_file *supplement,
	struct dwarf_file **file, struct tally_error *err)
{
	return dwarf_file_open_file(image, &(struct dwarf_file){.supplement = supplement}, file, err);
}

enum tally_status dwarf_file_open_split(const struct elf_image *image, const struct dwarf_file *program,
	struct dwarf_file **file, struct tally_error *err)
{
	return dwarf_file_open_file(image, &(struct dwarf_file){.program = program, .is_split = true}, file, err);
}

static enum tally_status dwarf_file_open_bytes(const struct tally_bytes sections[DWARF_SECTIONS],
	const struct dwarf_file *from, struct dwarf_file **out, struct tally_error *err)
{
	struct dwarf_file *file = calloc(1, sizeof(*file));
	if (!file)
		return error_nomem(err);
	*file = *from;
	memcpy(file->sections, sections, sizeof(file->sections));
	enum tally_status status = dwarf_file_read_units(file, err);
	if (status != TALLY_OK) {
		dwarf_file_close(file);
		return status;
	}
	*out = file;
	return TALLY_OK;
}

enum tally_status dwarf_file_open_sections(
	const struct tally_bytes sections[DWARF_SECTIONS], bool swap, struct dwarf_file **file, struct tally_error *err)
{
	return dwarf_file_open_bytes(sections, &(struct dwarf_file){.swap = swap}, file, err);
}

enum tally_status dwarf_file_open_part(const struct tally_bytes sections[DWARF_SECTIONS], bool swap,
	const struct dwarf_file *program, struct dwarf_file **file, struct tally_error *err)
{
	return dwarf_file_open_bytes(
		sections, &(struct dwarf_file){.swap = swap, .program = program, .is_split = true}, file, err);
}

void dwarf_file_close(struct dwarf_file *file)
{
	if (!file)
		return;
	for (int i = 0; i < DWARF_SECTIONS; i++)
		elf_section_close(&file->opened[i]);
	vec_free(&file->units);
	vec_free(&file->type_units);
	vec_free(&file->signatures);
	dwarf_file_close(file->types);
	free(file);
}

bool dwarf_file_find_type(
	const struct dwarf_file *file, uint64_t signature, const struct dwarf_file **home, uint64_t *entry)
{
	const struct dwarf_signature wanted = {.signature = signature}, *found = NULL;
	if (file->signatures.len > 0)
		found = bsearch(
			&wanted, file->signatures.items, file->signatures.len, sizeof(wanted), compare_signatures);
	if (!found)
		return file->types && dwarf_file_find_type(file->types, signature, home, entry);
	*home = file;
	*entry = found->entry;
	return true;
}

static const struct dwarf_unit *find_unit(const struct dwarf_unit *units, size_t count, uint64_t offset)
{
	size_t low;
	LOWER_BOUND(low, count, middle, units[middle].end <= offset);
	return low == count || offset < units[low].first_entry ? NULL : &units[low];
}

const struct dwarf_unit *dwarf_file_unit_at(const struct dwarf_file *file, uint64_t offset)
{
	const struct dwarf_unit *unit = find_unit(file->units.items, file->units.len, offset);
	return unit ? unit : find_unit(file->type_units.items, file->type_units.len, offset);
}
