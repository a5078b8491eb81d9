/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory.h - reads recordings that are directories (record --threads, --kcore): the file `data`, which is a
 * perf.data file, and data.0, data.1 and so on, which are streams of records.
 *
 * All files are read into a spool in the order of their numbers, which may have gaps. The caller frees the result.
 * Other files in the directory are ignored. Bad input: a directory without `data` is not a recording.
 *
 *	if (directory_is(path) && directory_read(path, &parts, err) == TALLY_OK) ... directory_parts_deinit(&parts);
 */
#ifndef PERFDATA_DIRECTORY_H
#define PERFDATA_DIRECTORY_H

#include <tally/status.h>

#include "base/spool.h"

struct directory_parts {
	struct spool bytes; /* The contents of all parts, one after the other. */
	size_t *ends; /* Offset in the spool at which each part ends; the first part is `data`. */
	size_t count; /* Number of parts. */
	uint32_t *numbers; /* Numbers of all parts but the first, ascending; missing files leave gaps. */
	uint64_t mtime_ns; /* Modification time of `data`. */
};

bool directory_is(const char *path);
TALLY_MUST_CHECK enum tally_status directory_read(
	const char *path, struct directory_parts *parts, struct tally_error *err);
void directory_parts_deinit(struct directory_parts *parts);

#endif
