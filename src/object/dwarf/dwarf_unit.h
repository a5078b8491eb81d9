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

/* Kind of an attribute's value. */
enum dwarf_class {
	DWARF_NONE, /* Not used by these readers. */
	DWARF_NUMBER,
	DWARF_ADDRESS,
	DWARF_TEXT,
	DWARF_REFERENCE, /* number is an offset in DWARF_INFO of the same file. */
	DWARF_REFERENCE_SUPPLEMENT, /* number is an offset in DWARF_INFO of the supplement. */
	DWARF_REFERENCE_TYPE, /* number is the signature of a type unit. */
	DWARF_OFFSET, /* number is an offset in the section to which the attribute refers. */
	DWARF_RANGE_INDEX
};

struct dwarf_unit {
	uint64_t offset; /* Offset of its header in DWARF_INFO. */
	uint64_t first_entry, end; /* Offsets in DWARF_INFO. */
	uint64_t abbrev_offset;
	uint64_t base; /* Address to which ranges are relative. */
	uint64_t str_offsets_base, addr_base, ranges_base, loclists_base; /* Offsets in their sections. */
	uint64_t line_offset; /* Offset in DWARF_LINE. */
	uint64_t low_pc, high_pc; /* Equal if there is no such range. */
	uint64_t ranges; /* Offset in DWARF_RANGES or DWARF_RNGLISTS, or an index, depending on ranges_form. */
	uint64_t dwo_id; /* ID of a skeleton or split unit; 0 if none. */
	struct tally_str name, comp_dir, dwo_name;
	uint16_t version;
	uint16_t language; /* DW_LANG_*; 0 if unknown. */
	uint8_t address_size; /* 4 or 8. */
	uint8_t offset_size; /* 4 or 8. */
	uint8_t ranges_form; /* enum dwarf_class; DWARF_NONE if there are no ranges. */
	bool has_lines;
	bool is_skeleton;
};

/* Signature of a type unit. */
struct dwarf_signature {
	uint64_t signature;
	uint64_t entry; /* Offset of the type's entry in DWARF_INFO. */
};

/* The limit on the work for one file; see dwarf_budget.h. */
struct dwarf_budget {
	uint64_t spent, limit;
};

struct dwarf_file {
	struct elf_section opened[DWARF_SECTIONS];
	struct tally_bytes sections[DWARF_SECTIONS];
	/* The program's own file, to which units of a .dwo file refer: .debug_addr and, before DWARF 5,
	 * .debug_ranges. */
	const struct dwarf_file *program;
	const struct dwarf_file *supplement; /* Common file of dwz; NULL if none; borrowed. */
	VEC(struct dwarf_unit) units; /* Compile and partial units, sorted by offset. */
	VEC(struct dwarf_unit) type_units; /* Sorted by offset. */
	VEC(struct dwarf_signature) signatures; /* Signatures of the type units, sorted. */
	/* The section .debug_types of DWARF 4, as a file that has it as DWARF_INFO. NULL if none; owned. */
	struct dwarf_file *types;
	uint64_t damaged; /* Number of units that could not be read. */
	struct dwarf_budget own_budget;
	struct dwarf_budget *budget; /* own_budget, or that of program; NULL means no limit. */
	bool swap;
	bool is_split; /* The sections are those with the suffix .dwo. */
	bool is_types; /* This is the member types of another file. */
};

#endif
