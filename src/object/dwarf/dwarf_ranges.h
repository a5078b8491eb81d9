/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_ranges.h - reads the address ranges of an entry: DW_AT_low_pc and DW_AT_high_pc, .debug_ranges or
 * .debug_rnglists, any version.
 *
 * A walk borrows file and unit. Empty ranges are left out. Bad input: a list that is truncated or has an entry of
 * unknown kind ends early.
 *
 *	dwarf_ranges_list(&ranges, file, unit, class, number);   or dwarf_ranges_extent(&ranges, file, unit, &extent);
 *	while (dwarf_ranges_next(&ranges, &low, &high)) ...
 */
#ifndef OBJECT_DWARF_DWARF_RANGES_H
#define OBJECT_DWARF_DWARF_RANGES_H

#include "object/dwarf/dwarf_entry.h"

struct dwarf_ranges {
	const struct dwarf_file *program; /* The file with .debug_addr. */
	const struct dwarf_unit *unit;
	struct cursor cursor;
	uint64_t base;
	uint64_t low, high; /* The only range of an extent without a list. */
	enum { DWARF_RANGES_PAIRS, DWARF_RANGES_RNGLIST, DWARF_RANGES_SINGLE, DWARF_RANGES_DONE } form;
};

/* The attributes of an entry that describe its ranges of code. */
struct dwarf_extent {
	/* DW_AT_low_pc, DW_AT_high_pc and DW_AT_ranges; class DWARF_NONE if missing. */
	struct dwarf_value low, high, ranges;
};

/* Stores the value of an attribute that is part of an extent; returns false for other attributes. */
bool dwarf_extent_set(struct dwarf_extent *extent, uint32_t attribute, const struct dwarf_value *value);
/* Starts a walk over a list; class and number are the value of DW_AT_ranges. */
void dwarf_ranges_list(struct dwarf_ranges *ranges, const struct dwarf_file *file, const struct dwarf_unit *unit,
	enum dwarf_class class, uint64_t number);
/* Starts a walk over the list, or the one range, of an entry. */
void dwarf_ranges_extent(struct dwarf_ranges *ranges, const struct dwarf_file *file, const struct dwarf_unit *unit,
	const struct dwarf_extent *extent);
bool dwarf_ranges_next(struct dwarf_ranges *ranges, uint64_t *low, uint64_t *high);

#endif
