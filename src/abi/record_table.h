/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_table.h - declares a table of record types with their name, minimum size and decoder. Unknown types have no
 * row.
 */
#ifndef ABI_RECORD_TABLE_H
#define ABI_RECORD_TABLE_H

#include "abi/record_fields.h"
#include "base/cursor.h"

struct record_type_row {
	uint32_t type;
	const char *name; /* Name after PERF_RECORD_ that perf script -D prints. */
	uint16_t least_bytes; /* Minimum size of the body. */
	/* Decodes the fields; the rest of the cursor is the trailer. NULL if no fields are decoded. */
	void (*decode)(struct cursor *c, const struct record *record, struct record_fields *fields);
};

/* Returns NULL for an unknown type. */
const struct record_type_row *record_type_find(uint32_t type);

#endif
