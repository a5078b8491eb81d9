/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_index.h - loads the line index of an entry from the cache, and stores it there. For the store. Only user files
 * with a build ID have an index. If it is missing, damaged or of another format, the debug information is read instead.
 */
#ifndef CODE_BINARIES_LOAD_INDEX_H
#define CODE_BINARIES_LOAD_INDEX_H

#include "code/binaries/binary_entry.h"

/* Looks for it once. */
void load_index(const struct binary_store_options *options, struct binary_entry *entry);
void unload_index(struct binary_entry *entry);
/* Adds what entry->lines has read to the cache. NOT_FOUND: nothing new. */
TALLY_MUST_CHECK enum tally_status save_index(
	const struct binary_store_options *options, struct binary_entry *entry, struct tally_error *err);

#endif
