/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_unpack.h - unpacks an archive into the build-ID cache, and a recording in it into the current folder.
 *
 * Archives are not trusted: all members are read and checked before anything is written, and a single unexpected member
 * causes the whole archive to be refused. Only these members are accepted into the cache:
 *
 *	.build-id/12/3456...                         a link to ../../NAME/123456..., a file, or a folder of files
 *	usr/bin/ls/123456.../elf                     a file in a folder that is named by a build ID
 *
 * Hard links, devices, pipes, absolute paths and ".." are refused. Files are not made executable. Symbolic links are
 * not followed, and existing files are not changed.
 */
#ifndef VERBS_BUILD_IDS_ARCHIVE_UNPACK_H
#define VERBS_BUILD_IDS_ARCHIVE_UNPACK_H

#include <tally/status.h>

#include "base/bytes.h"
#include "verbs/build_ids/archive_members.h"

#define ARCHIVE_SYMBOLS "perf.symbols.tar.bz2" /* The symbol archive inside an archive with a recording. */

/* Returns the reason why the member may not be stored in the cache, or NULL if it may. */
const char *archive_refuses(const struct archive_member *member);
/* Returns the reason why a member of an archive with a recording may not be stored in the current folder, or NULL if it
 * may. Accepted are a recording, or the files of a recording that is a folder. */
const char *archive_refuses_here(const struct archive_member *member);
/* Unpacks an archive of symbols into the folder cache, which must exist. */
TALLY_MUST_CHECK enum tally_status archive_unpack_symbols(const char *path, const char *cache, struct tally_error *err);
/* Unpacks an archive with a recording: the recording to the current folder, the symbols into the cache. */
TALLY_MUST_CHECK enum tally_status archive_unpack_all(const char *path, const char *cache, struct tally_error *err);

#endif
