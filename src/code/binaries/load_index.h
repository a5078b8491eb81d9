/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_index.h - loads the line index of an entry from the cache on disk, and writes it to the cache. Used by the
 * store. Only user files with a build ID have an index. If the index is missing, damaged or of another format, the
 * debug information is read instead.
 */
#ifndef CODE_BINARIES_LOAD_INDEX_H
#define CODE_BINARIES_LOAD_INDEX_H

#include "code/binaries/binary_entry.h"

/* Sets entry->index on the first call for an entry, if its index is in the cache. */
void load_index(const struct binary_store_options *options, struct binary_entry *entry);
void unload_index(struct binary_entry *entry);
/* Adds the units that entry->lines has read to the cached index. NOT_FOUND: there is nothing new. */
TALLY_MUST_CHECK enum tally_status save_index(
	const struct binary_store_options *options, struct binary_entry *entry, struct tally_error *err);

#endif
