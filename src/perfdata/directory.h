/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory.h - reads recordings that are directories (record --threads, --kcore): the file `data`, which is a
 * perf.data file, and data.0, data.1 and so on, which are streams of records.
 *
 * All are read into a spool one after another, in the order of their numbers, which may have gaps. The caller frees the
 * result. Other files in the directory are ignored. Bad input: a directory without `data` is not a recording.
 *
 *	if (directory_is(path) && directory_read(path, &parts, err) == TALLY_OK) ... directory_parts_deinit(&parts);
 */
#ifndef PERFDATA_DIRECTORY_H
#define PERFDATA_DIRECTORY_H

#include <tally/status.h>

#include "base/spool.h"

struct directory_parts {
	struct spool bytes;
	size_t *ends; /* of each part, from the start of bytes; the first is `data` */
	size_t count;
	uint32_t *numbers; /* of each part but the first, ascending; parts that are not listed are missing */
	uint64_t mtime_ns; /* of `data` */
};

bool directory_is(const char *path);
TALLY_MUST_CHECK enum tally_status directory_read(
	const char *path, struct directory_parts *parts, struct tally_error *err);
void directory_parts_deinit(struct directory_parts *parts);

#endif
