/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary_trail.h - records what the loaders of an entry tried, in order: each place and what was there. Loaders write
 * it; code that shows it gets it from binary_store_trail.
 *
 * The entry owns the steps. The thread that loads the entry, or its lines, writes them.
 *
 *	binary_trail_add(entry, "debug file by build id", path, BINARY_FOUND_NOTHING, NULL);
 */
#ifndef CODE_BINARIES_BINARY_TRAIL_H
#define CODE_BINARIES_BINARY_TRAIL_H

#include "code/binaries/binary_entry.h"

/* source: the kind of place, a static text. path is copied. detail may be NULL, is not copied and must live as long as
 * the entry. The same place is kept once, with its last result. A step is lost if memory runs out. */
void binary_trail_add(
	struct binary_entry *entry, const char *source, const char *path, enum binary_found found, const char *detail);
/* Converts the status of a failed open. */
enum binary_found binary_trail_found(enum tally_status status);

#endif
