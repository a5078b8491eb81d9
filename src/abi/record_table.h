/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_table.h - describes each record type in one row: its name, its minimum size and how its fields are read. A
 * constant table; unknown types have no row.
 */
#ifndef ABI_RECORD_TABLE_H
#define ABI_RECORD_TABLE_H

#include "abi/record_fields.h"
#include "base/cursor.h"

struct record_type_row {
	uint32_t type;
	const char *name; /* as perf script -D prints it after PERF_RECORD_ */
	uint16_t least_bytes; /* of the body */
	/* Reads the fields; the rest of the cursor is the trailer. NULL: the record has no fields that we decode. */
	void (*decode)(struct cursor *c, const struct record *record, struct record_fields *fields);
};

const struct record_type_row *record_type_find(uint32_t type);

#endif
