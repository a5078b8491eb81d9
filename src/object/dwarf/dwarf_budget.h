/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_budget.h - bounds the cost of reading one file's debug information. Many units or entries of a hostile file can
 * refer to the same long list, table or name, so that reading each of them takes time quadratic in the file's size;
 * real files share hardly anything. Whatever exceeds the budget is left out, like damaged parts.
 *
 * A budget is part of a dwarf_file. Any thread may spend it.
 *
 *	if (!dwarf_spend(file, DWARF_COST_FUNCTION_RANGE * count)) ... give up
 */
#ifndef OBJECT_DWARF_DWARF_BUDGET_H
#define OBJECT_DWARF_DWARF_BUDGET_H

#include "object/dwarf/dwarf_unit.h"

/* Costs: the approximate memory of each item, in units of eight bytes. */
#define DWARF_COST_RANGE 4
#define DWARF_COST_FUNCTION_RANGE \
	32 /* Includes the cost of sorting; one range for each byte of the sections is far more than a real file has. */
#define DWARF_COST_LINE_BYTE	 2
#define DWARF_COST_ABBREV_ATTR	 4
#define DWARF_COST_COPIED_BYTE	 8
#define DWARF_LONG_TEXT		 4096 /* Bytes; shorter texts cost nothing. */
#define DWARF_SCANNED_PER_COST	 16
#define DWARF_ATTRS_PER_BYTE	 64 /* Attributes per byte of a unit's entries; flags take no byte. */
#define DWARF_OVERLAPPING_RANGES 1024 /* Maximum number of ranges that are searched for one address. */

/* Increases the budget in proportion to the sections; a .dwo file adds its own to those of the program. */
void dwarf_budget_add(struct dwarf_budget *budget, const struct tally_bytes sections[DWARF_SECTIONS]);
/* Returns false if the rest of the budget is too small. */
bool dwarf_spend(const struct dwarf_file *file, uint64_t cost);

#endif
