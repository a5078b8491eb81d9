/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_location.h - reads the locations of a variable's value for each address: from a single expression or a list of
 * .debug_loc or .debug_loclists, any version. Expressions are classified, not evaluated: only the kinds are recognized
 * that compilers write for variables and that can be compared with the operand of an instruction.
 *
 * Lists borrow image and file. Bad input: a list that is truncated or has an entry of unknown kind ends early.
 *
 *	if (dwarf_location_read(&walk, spec, &location)) ...
 *	dwarf_location_begin(&list, &lists, file, unit, &location);
 *	while (dwarf_location_next(&list, &low, &high, &expression))
 *		storage = dwarf_storage_of(expression, file, unit);
 */
#ifndef OBJECT_DWARF_DWARF_LOCATION_H
#define OBJECT_DWARF_DWARF_LOCATION_H

#include "object/dwarf/dwarf_entry.h"

/* The value of DW_AT_location or DW_AT_frame_base. */
struct dwarf_location {
	enum dwarf_location_kind {
		DWARF_LOCATION_NONE,
		DWARF_LOCATION_EXPRESSION,
		DWARF_LOCATION_LIST,
		DWARF_LOCATION_INDEX /* Index of a list in the unit's table of offsets. */
	} kind;
	struct tally_bytes expression;
	uint64_t list;
};

/* The sections of location lists; separate from dwarf_file because few readers need them. */
struct dwarf_location_lists {
	struct elf_section opened[2];
	struct tally_bytes loc, loclists;
};

struct dwarf_location_list {
	const struct dwarf_file *program; /* The file with .debug_addr. */
	const struct dwarf_unit *unit;
	struct cursor cursor;
	struct tally_bytes expression; /* Expression of a location without a list. */
	uint64_t base;
	enum { DWARF_LIST_PLAIN, DWARF_LIST_PAIRS, DWARF_LIST_SPLIT, DWARF_LIST_ENTRIES, DWARF_LIST_DONE } form;
};

enum dwarf_storage_kind {
	DWARF_STORAGE_UNKNOWN, /* The value has no location, is in pieces, or is computed. */
	DWARF_STORAGE_REGISTER, /* The value is in register reg. */
	DWARF_STORAGE_SUM, /* The value is reg + offset. */
	DWARF_STORAGE_AT_REGISTER, /* The value is in memory at reg + offset. */
	DWARF_STORAGE_AT_FRAME_BASE, /* The value is in memory at the function's frame base + offset. */
	DWARF_STORAGE_CFA, /* The frame base is the canonical frame address. */
	DWARF_STORAGE_AT_ADDRESS
};

struct dwarf_storage {
	enum dwarf_storage_kind kind;
	uint32_t reg; /* DWARF register number. */
	int64_t offset;
	uint64_t address;
};

/* Reads the attribute as a location; the kind is DWARF_LOCATION_NONE if its value is not one. Returns false if the data
 * is truncated. */
bool dwarf_location_read(struct dwarf_walk *walk, const struct dwarf_attr_spec *spec, struct dwarf_location *location);
/* Opens the sections of location lists; missing ones are empty. is_split selects those of a .dwo file. NOMEM is the
 * only error. */
TALLY_MUST_CHECK enum tally_status dwarf_location_lists_open(
	struct dwarf_location_lists *lists, const struct elf_image *image, bool is_split, struct tally_error *err);
void dwarf_location_lists_close(struct dwarf_location_lists *lists);

void dwarf_location_begin(struct dwarf_location_list *list, const struct dwarf_location_lists *lists,
	const struct dwarf_file *file, const struct dwarf_unit *unit, const struct dwarf_location *location);
/* Returns the next range and its expression. A location without a list has one range that covers all addresses. */
bool dwarf_location_next(
	struct dwarf_location_list *list, uint64_t *low, uint64_t *high, struct tally_bytes *expression);

/* Returns the address with this index, the operand of DW_OP_addrx; 0 if there is none. */
uint64_t dwarf_location_address(const struct dwarf_file *file, const struct dwarf_unit *unit, uint64_t index);
struct dwarf_storage dwarf_storage_of(
	struct tally_bytes expression, const struct dwarf_file *file, const struct dwarf_unit *unit);

#endif
