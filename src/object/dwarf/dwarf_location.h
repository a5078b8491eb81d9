/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_location.h - reads where the value of a variable is, for each address: from a plain expression or a list of
 * .debug_loc or .debug_loclists, any version. Expressions are classified, not evaluated: it recognizes those kinds that
 * compilers write for variables and that the operand of an instruction can be compared with.
 *
 * Lists borrow image and file. Bad input: a list that is truncated or of unknown kind ends early.
 *
 *	if (dwarf_location_read(&walk, spec, &location)) ...
 *	dwarf_location_begin(&list, &lists, file, unit, &location);
 *	while (dwarf_location_next(&list, &low, &high, &expression))
 *		storage = dwarf_storage_of(expression, file, unit);
 */
#ifndef OBJECT_DWARF_DWARF_LOCATION_H
#define OBJECT_DWARF_DWARF_LOCATION_H

#include "object/dwarf/dwarf_entry.h"

struct dwarf_location { /* the value of DW_AT_location or DW_AT_frame_base */
	enum dwarf_location_kind {
		DWARF_LOCATION_NONE,
		DWARF_LOCATION_EXPRESSION,
		DWARF_LOCATION_LIST,
		DWARF_LOCATION_INDEX /* of a list, by the unit's table */
	} kind;
	struct tally_bytes expression;
	uint64_t list;
};

struct dwarf_location_lists { /* the sections, which few readers need: not among those of a dwarf_file */
	struct elf_section opened[2];
	struct tally_bytes loc, loclists;
};

struct dwarf_location_list {
	const struct dwarf_file *program; /* has .debug_addr */
	const struct dwarf_unit *unit;
	struct cursor cursor;
	struct tally_bytes expression; /* the one of a plain location */
	uint64_t base;
	enum { DWARF_LIST_PLAIN, DWARF_LIST_PAIRS, DWARF_LIST_SPLIT, DWARF_LIST_ENTRIES, DWARF_LIST_DONE } form;
};

enum dwarf_storage_kind {
	DWARF_STORAGE_UNKNOWN, /* none, in parts, or worked out */
	DWARF_STORAGE_REGISTER, /* the value is in the register */
	DWARF_STORAGE_SUM, /* the value is register + offset */
	DWARF_STORAGE_AT_REGISTER, /* in memory at register + offset */
	DWARF_STORAGE_AT_FRAME_BASE, /* in memory at the function's frame base + offset */
	DWARF_STORAGE_CFA, /* of a frame base: it is the canonical frame address */
	DWARF_STORAGE_AT_ADDRESS
};

struct dwarf_storage {
	enum dwarf_storage_kind kind;
	uint32_t reg; /* DWARF's number */
	int64_t offset;
	uint64_t address;
};

/* Reads the value, or passes over one that is no location. False: cut. */
bool dwarf_location_read(struct dwarf_walk *walk, const struct dwarf_attr_spec *spec, struct dwarf_location *location);
/* Sections that are not there are empty. is_split: those of a .dwo. Only NOMEM fails. */
TALLY_MUST_CHECK enum tally_status dwarf_location_lists_open(
	struct dwarf_location_lists *lists, const struct elf_image *image, bool is_split, struct tally_error *err);
void dwarf_location_lists_close(struct dwarf_location_lists *lists);

void dwarf_location_begin(struct dwarf_location_list *list, const struct dwarf_location_lists *lists,
	const struct dwarf_file *file, const struct dwarf_unit *unit, const struct dwarf_location *location);
/* Of a plain expression one range that covers everything. */
bool dwarf_location_next(
	struct dwarf_location_list *list, uint64_t *low, uint64_t *high, struct tally_bytes *expression);

/* The operand of DW_OP_addrx; 0: there is no such. */
uint64_t dwarf_location_address(const struct dwarf_file *file, const struct dwarf_unit *unit, uint64_t index);
struct dwarf_storage dwarf_storage_of(
	struct tally_bytes expression, const struct dwarf_file *file, const struct dwarf_unit *unit);

#endif
