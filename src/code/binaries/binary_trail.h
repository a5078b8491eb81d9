/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary_trail.h - records which places the loaders of an entry searched, in order, and what they found at each.
 * binary_store_trail returns the record.
 *
 * The entry owns the steps. The thread that loads the entry, or its lines, appends them.
 *
 *	binary_trail_add(entry, "debug file by build id", path, BINARY_FOUND_NOTHING, NULL);
 */
#ifndef CODE_BINARIES_BINARY_TRAIL_H
#define CODE_BINARIES_BINARY_TRAIL_H

#include "code/binaries/binary_entry.h"

/* Appends a step. source is a static text that names the kind of place. path is copied. detail may be NULL; it is not
 * copied and must live as long as the entry. A place that is added again replaces its earlier result. If memory runs
 * out, the step is lost. */
void binary_trail_add(
	struct binary_entry *entry, const char *source, const char *path, enum binary_found found, const char *detail);
/* Converts the status of opening a file. */
enum binary_found binary_trail_found(enum tally_status status);

#endif
