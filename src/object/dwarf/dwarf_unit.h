/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_unit.h - declares the types that all DWARF readers share: a file of debug sections and one of its units.
 */
#ifndef OBJECT_DWARF_DWARF_UNIT_H
#define OBJECT_DWARF_DWARF_UNIT_H

#include "base/cursor.h"
#include "base/vec.h"
#include "object/elf/elf_image.h"

enum dwarf_section {
	DWARF_INFO,
	DWARF_ABBREV,
	DWARF_LINE,
	DWARF_STR,
	DWARF_LINE_STR,
	DWARF_RANGES,
	DWARF_RNGLISTS,
	DWARF_ADDR,
	DWARF_STR_OFFSETS,
	DWARF_SECTIONS
};

enum dwarf_class { /* what the value of an attribute is */
	DWARF_NONE, /* not used here */
	DWARF_NUMBER,
	DWARF_ADDRESS,
	DWARF_TEXT,
	DWARF_REFERENCE, /* number: offset in DWARF_INFO of the same file */
	DWARF_REFERENCE_SUPPLEMENT, /* of the supplement */
	DWARF_REFERENCE_TYPE, /* number: the signature of a type unit */
	DWARF_OFFSET, /* in the section of the attribute */
	DWARF_RANGE_INDEX
};

struct dwarf_unit {
	uint64_t offset; /* of its header in DWARF_INFO */
	uint64_t first_entry, end; /* in DWARF_INFO */
	uint64_t abbrev_offset;
	uint64_t base; /* address that ranges are relative to */
	uint64_t str_offsets_base, addr_base, ranges_base, loclists_base; /* in their sections */
	uint64_t line_offset; /* in DWARF_LINE */
	uint64_t low_pc, high_pc; /* equal: none */
	uint64_t ranges; /* in DWARF_RANGES or DWARF_RNGLISTS, or an index, as ranges_form says */
	uint64_t dwo_id; /* of a skeleton or split unit; 0 none */
	struct tally_str name, comp_dir, dwo_name;
	uint16_t version;
	uint16_t language; /* DW_LANG_*; 0 unknown */
	uint8_t address_size; /* 4 or 8 */
	uint8_t offset_size; /* 4 or 8 */
	uint8_t ranges_form; /* enum dwarf_class; DWARF_NONE: no ranges */
	bool has_lines;
	bool is_skeleton;
};

struct dwarf_signature { /* of a type unit */
	uint64_t signature;
	uint64_t entry; /* of the type, in DWARF_INFO */
};

struct dwarf_budget { /* see dwarf_budget.h */
	uint64_t spent, limit;
};

struct dwarf_file {
	struct elf_section opened[DWARF_SECTIONS];
	struct tally_bytes sections[DWARF_SECTIONS];
	/* What units of a .dwo refer to in the program's own file: .debug_addr and, before DWARF 5, .debug_ranges. */
	const struct dwarf_file *program;
	const struct dwarf_file *supplement; /* dwz's common file; NULL none; borrowed */
	VEC(struct dwarf_unit) units; /* compile and partial units, by offset */
	VEC(struct dwarf_unit) type_units; /* by offset */
	VEC(struct dwarf_signature) signatures; /* of the type units, ascending */
	/* Type units before DWARF 5, whose section is of their own: it stands as DWARF_INFO there. NULL: none; owned. */
	struct dwarf_file *types;
	uint64_t damaged; /* units that could not be read */
	struct dwarf_budget own_budget;
	struct dwarf_budget *budget; /* own_budget, or that of program; NULL: no bound */
	bool swap;
	bool is_split; /* sections are the .dwo ones */
	bool is_types; /* it is the types of another file */
};

#endif
