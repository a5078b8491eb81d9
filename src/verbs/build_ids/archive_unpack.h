/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_unpack.h - unpacks an archive into the build-ID cache, and a recording in it into the current folder.
 *
 * Archives are not trusted: all members are read and checked before anything is written, and a single unexpected member
 * refuses the whole archive. These members go into the cache:
 *
 *	.build-id/12/3456...                         a link to ../../NAME/123456..., a file, or a folder of files
 *	usr/bin/ls/123456.../elf                     a file in a folder that is named by a build id
 *
 * and nothing else: no hard links, devices or pipes, no absolute paths, no "..". Files are not made executable.
 * Symbolic links are not followed, and existing files stay as they are.
 */
#ifndef VERBS_BUILD_IDS_ARCHIVE_UNPACK_H
#define VERBS_BUILD_IDS_ARCHIVE_UNPACK_H

#include <tally/status.h>

#include "base/bytes.h"
#include "verbs/build_ids/archive_members.h"

#define ARCHIVE_SYMBOLS "perf.symbols.tar.bz2" /* the archive in one that has everything */

/* NULL: the member may be stored in the cache; otherwise the reason why not. */
const char *archive_refuses(const struct archive_member *member);
/* Of an archive with everything: the recording's file, or one of a recording's folder. NULL: it may lie here. */
const char *archive_refuses_here(const struct archive_member *member);
/* cache: the folder, which exists. */
TALLY_MUST_CHECK enum tally_status archive_unpack_symbols(const char *path, const char *cache, struct tally_error *err);
/* An archive with everything; the recording goes below the current folder. */
TALLY_MUST_CHECK enum tally_status archive_unpack_all(const char *path, const char *cache, struct tally_error *err);

#endif
