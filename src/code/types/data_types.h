/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_types.h - determines which data the instructions of one binary access. A function is analysed when the first of
 * its instructions is looked up.
 *
 * Owned by an entry of the binary store. It borrows the debug information and the image, which must outlive it; code is
 * only used during a call. One thread. Addresses are link-time.
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
	const struct debug_info *info; /* Debug information, with the units of the addresses loaded. */
	const struct elf_image *image; /* The image that contains it; used for location lists. */
	unsigned elf_machine; /* EM_* value of the image. */
	unsigned fused; /* What the recorded CPU fuses; see fused.h. */
};

/* UNSUPPORTED: the machine is not supported. */
TALLY_MUST_CHECK enum tally_status data_types_create(
	const struct data_types_input *input, struct data_types **types, struct tally_error *err);
void data_types_destroy(struct data_types *types);
/* Finds the range of the function that contains an address: the code to pass to data_types_find. high is exclusive.
 * Returns false if no function is known. */
bool data_types_range(const struct data_types *types, uint64_t address, uint64_t *low, uint64_t *high);
/* Finds the data that the instruction at an address accesses; its strings live as long as types. code has the bytes of
 * the range that data_types_range returns; it is ignored if the function was analysed before, and empty if it is not
 * available. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status data_types_find(struct data_types *types, uint64_t address, struct tally_bytes code,
	struct data_access *access, struct tally_error *err);
/* Returns whether the function at the address has been analysed. */
bool data_types_has(const struct data_types *types, uint64_t address);
/* Returns the rows of the layout of a type: the type itself, then each member, followed by its own members. They live
 * as long as types. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status data_types_fields(struct data_types *types, const struct dwarf_type *type,
	const struct data_field **fields, size_t *count, struct tally_error *err);

#endif
