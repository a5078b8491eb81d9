/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_index.h - loads the line index of an entry from the cache, and stores it there, for the store. Only user files
 * with a build ID have an index. If the index is missing, damaged or of another format, the debug information is read
 * instead.
 */
#ifndef CODE_BINARIES_LOAD_INDEX_H
#define CODE_BINARIES_LOAD_INDEX_H

#include "code/binaries/binary_entry.h"

/* Opens the index on the first call. */
void load_index(const struct binary_store_options *options, struct binary_entry *entry);
void unload_index(struct binary_entry *entry);
/* Adds the units that entry->lines has read to the cached index. NOT_FOUND: there is nothing new. */
TALLY_MUST_CHECK enum tally_status save_index(
	const struct binary_store_options *options, struct binary_entry *entry, struct tally_error *err);

#endif
