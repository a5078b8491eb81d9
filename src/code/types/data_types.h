/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_types.h - finds out which data the instructions of one binary access. A function is analysed when the first of
 * its instructions is looked up.
 *
 * Owned by a store entry; it borrows the debug information and the code, which outlive it. One thread. Addresses are
 * link-time.
 *
 *	data_types_create(&input, &types, err);
 *	data_types_find(types, address, &access, err);
 */
#ifndef CODE_TYPES_DATA_TYPES_H
#define CODE_TYPES_DATA_TYPES_H

#include "code/data_access.h"
#include "object/dwarf/debug_info.h"

struct data_types;

struct data_types_input {
	const struct debug_info *info; /* with the units of the addresses loaded */
	const struct elf_image *image; /* that it is of: location lists */
	unsigned elf_machine;
	unsigned fused; /* by the CPU that was recorded: see fused.h */
};

/* UNSUPPORTED: not for this machine. */
TALLY_MUST_CHECK enum tally_status data_types_create(
	const struct data_types_input *input, struct data_types **types, struct tally_error *err);
void data_types_destroy(struct data_types *types);
/* The code that must be loaded for an address: that of its function. False: no function is known. */
bool data_types_range(const struct data_types *types, uint64_t address, uint64_t *low, uint64_t *high);
/* code: of the range; empty if it was analysed before, or is not available. NOMEM only. */
TALLY_MUST_CHECK enum tally_status data_types_find(struct data_types *types, uint64_t address, struct tally_bytes code,
	struct data_access *access, struct tally_error *err);
/* Whether the function of the address has been analysed. */
bool data_types_has(const struct data_types *types, uint64_t address);
/* The layout of a type, outermost first; lives as long as the types. NOMEM only. */
TALLY_MUST_CHECK enum tally_status data_types_fields(struct data_types *types, const struct dwarf_type *type,
	const struct data_field **fields, size_t *count, struct tally_error *err);

#endif
