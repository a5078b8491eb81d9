/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary_trail.h - records what the loaders of an entry tried, in order: each place and what was there. For loaders;
 * binary_store_trail gives it to whoever shows it.
 *
 * Steps live in the entry. Written by the one thread that loads the entry, or its lines.
 *
 *	binary_trail_add(entry, "debug file by build id", path, BINARY_FOUND_NOTHING, NULL);
 */
#ifndef CODE_BINARIES_BINARY_TRAIL_H
#define CODE_BINARIES_BINARY_TRAIL_H

#include "code/binaries/binary_entry.h"

/* source: what kind of place, static text; path is copied; detail may be NULL, is kept as it is and lives as long as the
 * entry. The same place is kept once, with what was found last. A step that memory lacks for is lost. */
void binary_trail_add(
	struct binary_entry *entry, const char *source, const char *path, enum binary_found found, const char *detail);
/* What a failed open says of the place. */
enum binary_found binary_trail_found(enum tally_status status);

#endif
