/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_tar.h - packs the files of a folder with tar, as perf archive does. archive_unpack.h unpacks such archives.
 *
 * Names are passed to tar on its standard input, each terminated by NUL, so that no name can be taken for an option.
 *
 *	tar_pack("perf.data.tar.bz2", cache.dir, &names, false, err);
 */
#ifndef VERBS_BUILD_IDS_ARCHIVE_TAR_H
#define VERBS_BUILD_IDS_ARCHIVE_TAR_H

#include <tally/status.h>

#include "base/text.h"

/* Packs the files and folders in names, which are relative to dir and each terminated by NUL, into the archive path.
 * With follows_links, the targets of symbolic links are packed under the names of the links. On failure, an incomplete
 * archive is removed. */
TALLY_MUST_CHECK enum tally_status tar_pack(
	const char *path, const char *dir, const struct text *names, bool follows_links, struct tally_error *err);

#endif
