/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_types.h - reads the types of the data that an entry's code accesses from its debug information. Used by the
 * store; see binary_store_data_access.
 */
#ifndef CODE_BINARIES_LOAD_TYPES_H
#define CODE_BINARIES_LOAD_TYPES_H

#include "code/binaries/binary_entry.h"
#include "code/types/data_types.h"

/* Sets entry->types of an entry that has lines; leaves NULL if the machine is not supported. NOMEM is the only
 * error. */
TALLY_MUST_CHECK enum tally_status load_types(
	const struct binary_store_options *options, struct binary_entry *entry, struct tally_error *err);
void unload_types(struct binary_entry *entry);

#endif
