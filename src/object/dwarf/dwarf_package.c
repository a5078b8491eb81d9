/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/dwarf_package.h"

#include <stdlib.h>

#include "base/error.h"
#include "object/dwarf/dwarf_file.h"

#define VERSION_GNU 2
#define VERSION_5   5
#define COLUMNS_MAX 16 /* An index can have at most 8 sections. */
#define NO_COLUMN   UINT32_MAX
#define LISTS_ID    5 /* DW_SECT_LOC or DW_SECT_LOCLISTS; both versions use this number. */

struct dwarf_package {
	struct elf_section opened_index, opened[DWARF_SECTIONS];
	struct tally_bytes sections[DWARF_SECTIONS];
	struct dwarf_location_lists lists; /* Location lists of all units. */
	bool swap;
	uint32_t lists_column; /* NO_COLUMN if the index has no location lists. */
	uint32_t version, column_count, unit_count, slot_count;
	uint32_t column_of[DWARF_SECTIONS]; /* NO_COLUMN if units share the whole section. */
	struct tally_bytes ids, rows, offsets, sizes; /* Tables of the index. */
};

static const char *const names[DWARF_SECTIONS] = {
	[DWARF_INFO] = ".debug_info.dwo",
	[DWARF_ABBREV] = ".debug_abbrev.dwo",
	[DWARF_LINE] = ".debug_line.dwo",
	[DWARF_STR] = ".debug_str.dwo",
	[DWARF_LINE_STR] = ".debug_line_str.dwo",
	[DWARF_RNGLISTS] = ".debug_rnglists.dwo",
	[DWARF_STR_OFFSETS] = ".debug_str_offsets.dwo",
};

/* Returns the section of a column; DWARF_SECTIONS if it is not read here. The two versions use different numbers. */
static enum dwarf_section dwarf_package_section_of(uint32_t version, uint32_t id)
{
	switch (id) {
	case 1:
		return DWARF_INFO;
	case 3:
		return DWARF_ABBREV;
	case 4:
		return DWARF_LINE;
	case 6:
		return DWARF_STR_OFFSETS;
	case 8:
		return version == VERSION_5 ? DWARF_RNGLISTS : DWARF_SECTIONS;
	default:
		return DWARF_SECTIONS;
	}
}

static enum tally_status bad_index(struct tally_error *err, const char *what)
{
	return error_set(err, TALLY_CORRUPT, "the index of a .dwp: %s", what);
}

static void dwarf_package_read_columns(struct dwarf_package *package, struct cursor *c)
{
	for (unsigned i = 0; i < DWARF_SECTIONS; i++)
		package->column_of[i] = NO_COLUMN;
	package->lists_column = NO_COLUMN;
	for (uint32_t i = 0; i < package->column_count; i++) {
		uint32_t id = cursor_u32(c);
		enum dwarf_section section = dwarf_package_section_of(package->version, id);
		if (id == LISTS_ID)
			package->lists_column = i;
		if (section != DWARF_SECTIONS)
			package->column_of[section] = i;
	}
}

static enum tally_status read_index(struct dwarf_package *package, struct tally_bytes index, struct tally_error *err)
{
	struct cursor c = cursor_make(index, package->swap);
	/* The version of DWARF 5 has two bytes and two bytes of padding, so that it differs from the GNU version in
	 * either byte order. */
	package->version = cursor_u32(&c);
	if (package->version != VERSION_GNU) {
		c.pos = 0;
		package->version = cursor_u16(&c);
		cursor_skip(&c, 2);
		if (package->version != VERSION_5)
			return bad_index(err, "an unknown version");
	}
	package->column_count = cursor_u32(&c);
	package->unit_count = cursor_u32(&c);
	package->slot_count = cursor_u32(&c);
	uint32_t slots = package->slot_count, columns = package->column_count;
	if (c.failed || columns > COLUMNS_MAX)
		return bad_index(err, "too many sections");
	if ((slots & (slots - 1)) != 0 || package->unit_count > slots)
		return bad_index(err, "its hash table is no power of two, or too small");
	/* The products cannot overflow 64 bits: the factors are 32-bit counts and at most 64 bytes. The cursor fails if
	 * they do not fit. */
	uint64_t cells = (uint64_t)package->unit_count * columns * 4;
	package->ids = cursor_bytes(&c, (uint64_t)slots * 8);
	package->rows = cursor_bytes(&c, (uint64_t)slots * 4);
	dwarf_package_read_columns(package, &c);
	package->offsets = cursor_bytes(&c, cells);
	package->sizes = cursor_bytes(&c, cells);
	if (c.failed)
		return bad_index(err, "it is cut");
	if (package->column_of[DWARF_INFO] == NO_COLUMN || package->column_of[DWARF_ABBREV] == NO_COLUMN)
		return bad_index(err, "no units in it");
	return TALLY_OK;
}

enum tally_status dwarf_package_open_sections(struct tally_bytes index,
	const struct tally_bytes sections[DWARF_SECTIONS], bool swap, struct dwarf_package **out,
	struct tally_error *err)
{
	struct dwarf_package *package = calloc(1, sizeof(*package));
	if (!package)
		return error_nomem(err);
	package->swap = swap;
	memcpy(package->sections, sections, sizeof(package->sections));
	enum tally_status status = read_index(package, index, err);
	if (status != TALLY_OK) {
		dwarf_package_close(package);
		return status;
	}
	*out = package;
	return TALLY_OK;
}

enum tally_status dwarf_package_open(const struct elf_image *image, struct dwarf_package **out, struct tally_error *err)
{
	struct dwarf_package *package = calloc(1, sizeof(*package));
	if (!package)
		return error_nomem(err);
	package->swap = elf_image_is_swapped(image);
	enum tally_status status = elf_section_open(image, ".debug_cu_index", &package->opened_index, err);
	for (int i = 0; i < DWARF_SECTIONS && status == TALLY_OK; i++) {
		if (names[i])
			status = elf_section_open(image, names[i], &package->opened[i], err);
		/* A section may be missing; units that need it will fail. */
		status = status == TALLY_NOMEM ? status : TALLY_OK;
		package->sections[i] = package->opened[i].bytes;
	}
	if (status == TALLY_OK)
		status = dwarf_location_lists_open(&package->lists, image, true, err);
	if (status == TALLY_OK)
		status = read_index(package, package->opened_index.bytes, err);
	if (status != TALLY_OK) {
		dwarf_package_close(package);
		return status;
	}
	*out = package;
	return TALLY_OK;
}

void dwarf_package_close(struct dwarf_package *package)
{
	if (!package)
		return;
	elf_section_close(&package->opened_index);
	dwarf_location_lists_close(&package->lists);
	for (int i = 0; i < DWARF_SECTIONS; i++)
		elf_section_close(&package->opened[i]);
	free(package);
}

static uint32_t dwarf_package_cell(const struct dwarf_package *package, struct tally_bytes table, uint64_t index)
{
	struct cursor c = cursor_make(table, package->swap);
	cursor_skip(&c, index * 4);
	return cursor_u32(&c);
}

/* Returns the row of the ID, counted from 1; 0 if there is none. The hash table uses open addressing with an odd step,
 * which visits each slot once. */
static uint32_t dwarf_package_find_row(const struct dwarf_package *package, uint64_t id)
{
	if (package->slot_count == 0)
		return 0;
	uint64_t mask = package->slot_count - 1;
	uint64_t slot = id & mask, step = ((id >> 32) & mask) | 1;
	for (uint32_t tries = 0; tries < package->slot_count; tries++) {
		struct cursor c = cursor_make(package->ids, package->swap);
		cursor_skip(&c, slot * 8);
		uint64_t found = cursor_u64(&c);
		uint32_t row = dwarf_package_cell(package, package->rows, slot);
		if (row == 0)
			return 0;
		if (found == id)
			return row <= package->unit_count ? row : 0;
		slot = (slot + step) & mask;
	}
	return 0;
}

/* Reduces *section to the part that belongs to the unit in a row. Returns false if the part lies outside of it. */
static bool dwarf_package_part(
	const struct dwarf_package *package, uint32_t row, uint32_t column, struct tally_bytes *section)
{
	uint64_t at = (uint64_t)(row - 1) * package->column_count + column;
	uint64_t offset = dwarf_package_cell(package, package->offsets, at);
	uint64_t size = dwarf_package_cell(package, package->sizes, at);
	if (offset > section->len || size > section->len - offset)
		return false;
	*section = (struct tally_bytes){section->data ? section->data + offset : NULL, (size_t)size};
	return true;
}

void dwarf_package_lists(const struct dwarf_package *package, uint64_t dwo_id, struct dwarf_location_lists *lists)
{
	uint32_t row = dwarf_package_find_row(package, dwo_id);
	struct tally_bytes part = package->version == VERSION_5 ? package->lists.loclists : package->lists.loc;
	*lists = (struct dwarf_location_lists){.loc = {NULL, 0}};
	if (row == 0 || package->lists_column == NO_COLUMN ||
		!dwarf_package_part(package, row, package->lists_column, &part))
		return;
	lists->loc = package->version == VERSION_5 ? lists->loc : part;
	lists->loclists = package->version == VERSION_5 ? part : lists->loclists;
}

enum tally_status dwarf_package_unit(const struct dwarf_package *package, uint64_t dwo_id,
	const struct dwarf_file *program, struct dwarf_file **file, struct tally_error *err)
{
	struct tally_bytes parts[DWARF_SECTIONS];
	uint32_t row = dwarf_package_find_row(package, dwo_id);
	if (row == 0)
		return error_set(err, TALLY_NOT_FOUND, "the .dwp has no unit of that id");
	for (int i = 0; i < DWARF_SECTIONS; i++) {
		parts[i] = package->sections[i];
		if (package->column_of[i] == NO_COLUMN)
			continue;
		if (!dwarf_package_part(package, row, package->column_of[i], &parts[i]))
			return bad_index(err, "a part lies outside its section");
	}
	return dwarf_file_open_part(parts, package->swap, program, file, err);
}
