/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_entry.h - walks the entries (DIEs) of a unit and reads their attributes.
 *
 * A dwarf_reader belongs to one thread and caches the abbreviation tables that it has read; it borrows the file. Values
 * are slices and numbers; references are offsets in DWARF_INFO of the value's file.
 *
 * Bad input: a read that fails ends the unit: dwarf_next then returns false, and failed is set.
 *
 *	struct dwarf_walk walk;
 *	dwarf_walk_unit(&walk, &reader, file, unit);
 *	while (dwarf_next(&walk, &entry))
 *		for (uint32_t i = 0; i < entry.abbrev->attr_count; i++)
 *			if (dwarf_read_value(&walk, &entry.abbrev->attrs[i], &value)) ...
 */
#ifndef OBJECT_DWARF_DWARF_ENTRY_H
#define OBJECT_DWARF_DWARF_ENTRY_H

#include "base/map_u64.h"
#include "object/dwarf/dwarf_abbrev.h"

struct dwarf_file_tables {
	const struct dwarf_file *file;
	struct map_u64 by_offset; /* Maps abbreviation offset, version and sizes to struct dwarf_abbrev_table *. */
};

struct dwarf_reader {
	struct arena arena;
	VEC(struct dwarf_file_tables) files;
	size_t last_file;
	bool out_of_memory;
};

struct dwarf_value {
	enum dwarf_class class;
	uint64_t number;
	struct tally_str text;
};

struct dwarf_walk {
	struct dwarf_reader *reader;
	const struct dwarf_file *file;
	const struct dwarf_unit *unit;
	const struct dwarf_abbrev_table *table;
	struct cursor cursor; /* Covers DWARF_INFO up to the unit's end; positioned at the next entry. */
	uint32_t depth; /* Depth of the next entry; 0 for the unit's own. */
	uint64_t attrs; /* Number of attributes of all entries so far. */
	bool failed;
};

struct dwarf_entry {
	uint64_t offset; /* Offset in DWARF_INFO. */
	const struct dwarf_abbrev *abbrev;
	uint32_t depth;
};

void dwarf_reader_init(struct dwarf_reader *reader);
void dwarf_reader_deinit(struct dwarf_reader *reader);
/* Starts a walk. Returns false if the unit's abbreviations cannot be read, or memory runs out
 * (reader->out_of_memory). */
bool dwarf_walk_unit(struct dwarf_walk *walk, struct dwarf_reader *reader, const struct dwarf_file *file,
	const struct dwarf_unit *unit);
/* Reads the next entry in file order, but not its attributes; returns false after the last. */
bool dwarf_next(struct dwarf_walk *walk, struct dwarf_entry *entry);
/* Reads the entry at an offset of the unit; the walk then continues after it. */
bool dwarf_entry_at(struct dwarf_walk *walk, uint64_t offset, struct dwarf_entry *entry);
/* Continues at sibling, the value of the entry's DW_AT_sibling, and so skips its children. */
void dwarf_skip_children(struct dwarf_walk *walk, const struct dwarf_entry *entry, uint64_t sibling);

/* Reads an attribute of the current entry. Read or skip each of them, in the abbreviation's order, before the next
 * entry. Returns false if the data is truncated. */
bool dwarf_read_value(struct dwarf_walk *walk, const struct dwarf_attr_spec *spec, struct dwarf_value *value);
void dwarf_skip_value(struct dwarf_walk *walk, const struct dwarf_attr_spec *spec);
/* Skips all attributes of the entry. */
void dwarf_skip_values(struct dwarf_walk *walk, const struct dwarf_entry *entry);

#endif
