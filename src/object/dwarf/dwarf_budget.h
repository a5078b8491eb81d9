/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_budget.h - bounds what one file's debug information may cost. Many units or entries of a hostile file can refer
 * to the same long list, table or name, so that reading each of them takes time quadratic in the file's size; in real
 * files hardly anything is shared. Whatever exceeds the budget is left out, like damaged parts.
 *
 * Part of a dwarf_file; any thread.
 *
 *	if (!dwarf_spend(file, DWARF_COST_FUNCTION_RANGE * count)) ... give up
 */
#ifndef OBJECT_DWARF_DWARF_BUDGET_H
#define OBJECT_DWARF_DWARF_BUDGET_H

#include "object/dwarf/dwarf_unit.h"

/* The approximate memory of each, in units of eight bytes. */
#define DWARF_COST_RANGE 4
#define DWARF_COST_FUNCTION_RANGE \
	32 /* they are sorted too: one for each byte of the sections is far more than any file has */
#define DWARF_COST_LINE_BYTE	 2
#define DWARF_COST_ABBREV_ATTR	 4
#define DWARF_COST_COPIED_BYTE	 8
#define DWARF_LONG_TEXT		 4096 /* shorter ones cost nothing */
#define DWARF_SCANNED_PER_COST	 16
#define DWARF_ATTRS_PER_BYTE	 64 /* of a unit's entries: flags take no byte */
#define DWARF_OVERLAPPING_RANGES 1024 /* looked through for one address */

/* Grows with the sections, of which a .dwo adds its own to the program's. */
void dwarf_budget_add(struct dwarf_budget *budget, const struct tally_bytes sections[DWARF_SECTIONS]);
/* False: the rest of the budget is too small. */
bool dwarf_spend(const struct dwarf_file *file, uint64_t cost);

#endif
