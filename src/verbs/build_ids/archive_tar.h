/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_tar.h - packs the files of a folder with tar, as perf archive does. archive_unpack.h unpacks such archives.
 *
 * Names go to tar on its standard input, each ended by a NUL, so that no name is taken for an option.
 *
 *	tar_pack("perf.data.tar.bz2", cache.dir, &names, false, err);
 */
#ifndef VERBS_BUILD_IDS_ARCHIVE_TAR_H
#define VERBS_BUILD_IDS_ARCHIVE_TAR_H

#include <tally/status.h>

#include "base/text.h"

/* names: files and folders under dir, each ended by a NUL. After a failure, an incomplete file at path is removed.
 * follows_links: the targets of links are packed under the names of the links. */
TALLY_MUST_CHECK enum tally_status tar_pack(
	const char *path, const char *dir, const struct text *names, bool follows_links, struct tally_error *err);

#endif
