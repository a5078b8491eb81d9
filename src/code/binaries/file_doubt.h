/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_doubt.h - decides whether a program file that was found by path only may differ from the mapped one. It is used
 * if the recording has no build ID, and compares the device and inode of the mapping, and the time of the recording.
 *
 *	if (!file_doubt_accept(options, entry, place)) ... the file belongs to another entry
 */
#ifndef CODE_BINARIES_FILE_DOUBT_H
#define CODE_BINARIES_FILE_DOUBT_H

#include "code/binaries/search_path.h"

/* Returns false if several files of the recording had that path and this is not the one of the entry. If it may be
 * another file, entry->is_unproven and entry->doubt are set. */
bool file_doubt_accept(
	const struct binary_store_options *options, struct binary_entry *entry, const struct binary_place *place);

#endif
