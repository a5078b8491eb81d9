/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_doubt.h - decides whether a file that was found by its path alone may be another file than the mapped one. It is
 * for program files without a recorded build ID, and compares the device and inode of the mapping and the time of the
 * recording.
 *
 *	if (!file_doubt_accept(options, entry, place)) ... another of the recording's files at that path
 */
#ifndef CODE_BINARIES_FILE_DOUBT_H
#define CODE_BINARIES_FILE_DOUBT_H

#include "code/binaries/search_path.h"

/* False: several files of the recording had that path, and this is not the entry's. If it may be another file,
 * entry->is_unproven and entry->doubt say so. */
bool file_doubt_accept(
	const struct binary_store_options *options, struct binary_entry *entry, const struct binary_place *place);

#endif
