/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_abbrev.h - reads the abbreviation tables, which describe the layout of the entries of a unit. Used by the
 * readers of entries.
 *
 * A table is allocated in the given arena. Bad input: an invalid abbreviation ends the table; an entry that uses a
 * later code then ends its unit.
 */
#ifndef OBJECT_DWARF_DWARF_ABBREV_H
#define OBJECT_DWARF_DWARF_ABBREV_H

#include "base/arena.h"
#include "object/dwarf/dwarf_unit.h"

#define DWARF_ABBREV_ALL 0

struct dwarf_attr_spec {
	uint32_t name, form; /* DW_AT_*, DW_FORM_* */
	int64_t implicit; /* Value of DW_FORM_implicit_const. */
};

struct dwarf_abbrev {
	uint64_t code;
	const struct dwarf_attr_spec *attrs;
	uint32_t attr_count;
	uint32_t tag;
	bool has_children;
	/* Size in bytes of its attributes in units with this address and offset size; -1 if it varies. */
	int32_t fixed_size;
};

struct dwarf_abbrev_table {
	struct dwarf_abbrev *abbrevs; /* Sorted by code. */
	size_t count;
	bool is_dense; /* abbrevs[i].code == i + 1 */
};

/* Reads the unit's table; unless last_code is DWARF_ABBREV_ALL, only up to the abbreviation with that code. Returns
 * NULL if memory runs out. */
struct dwarf_abbrev_table *dwarf_abbrev_read(
	struct arena *arena, const struct dwarf_file *file, const struct dwarf_unit *unit, uint64_t last_code);
const struct dwarf_abbrev *dwarf_abbrev_find(const struct dwarf_abbrev_table *table, uint64_t code);
/* Returns the size in bytes of a value of this form; -1 if it depends on the value, or the form is unknown. */
int dwarf_form_size(const struct dwarf_unit *unit, uint32_t form);

#endif
