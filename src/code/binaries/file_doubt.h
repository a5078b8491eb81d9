/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_doubt.h - decides whether a file that was found by its path alone may be another file than the mapped one. For
 * program files without a recorded build id; the device and inode of the mapping and the time of the recording are what
 * there is to tell.
 *
 *	if (!file_doubt_accept(options, entry, place)) ... another of the recording's files at that path
 */
#ifndef CODE_BINARIES_FILE_DOUBT_H
#define CODE_BINARIES_FILE_DOUBT_H

#include "code/binaries/search_path.h"

/* False: several files of the recording had that path, and this is not the entry's. Where it may be another one, that is
 * said in entry->is_unproven and entry->doubt. */
bool file_doubt_accept(
	const struct binary_store_options *options, struct binary_entry *entry, const struct binary_place *place);

#endif
