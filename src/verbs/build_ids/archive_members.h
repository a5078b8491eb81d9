/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_members.h - reads the members of a .tar.bz2 archive, as made by perf archive, one after another.
 *
 * It writes no files. bzip2 decompresses the archive in its own process. The ustar format, GNU's long names and pax
 * headers are supported. Every field is checked: a damaged archive results in TALLY_CORRUPT with the offset in bzip2's
 * output, and one that expands too much in TALLY_LIMIT.
 *
 *	struct archive_members archive;   archive_members_open(path, &archive, err);
 *	while (archive_members_next(&archive, &member, err) == TALLY_OK)
 *		... archive_members_read(&archive, room, n, &len, err) ...
 *	archive_members_close(&archive, is_at_end, path, err);
 */
#ifndef VERBS_BUILD_IDS_ARCHIVE_MEMBERS_H
#define VERBS_BUILD_IDS_ARCHIVE_MEMBERS_H

#include <limits.h>
#include <sys/types.h>
#include <tally/status.h>

#include "base/bytes.h"

#define ARCHIVE_REGULAR	  '0'
#define ARCHIVE_SYMLINK	  '2'
#define ARCHIVE_DIRECTORY '5'

struct archive_member {
	char name[PATH_MAX], link[PATH_MAX]; /* link is the target of a symbolic or hard link. */
	char type; /* tar's type letter; older letters for regular files become ARCHIVE_REGULAR. */
	uint64_t size;
};

struct archive_members {
	int fd; /* The output of bzip2. */
	pid_t pid;
	uint64_t offset, most; /* Position in the decompressed archive, and the maximum position, in bytes. */
	uint64_t left, padding; /* Unread bytes of the current member, and padding bytes after it. */
};

/* Starts bzip2. Returns INVALID if path is not a regular file, without blocking on a pipe or device. */
TALLY_MUST_CHECK enum tally_status archive_members_open(
	const char *path, struct archive_members *archive, struct tally_error *err);
/* Skips the unread rest of the current member and reads the next header. Returns TALLY_END after the last member. */
TALLY_MUST_CHECK enum tally_status archive_members_next(
	struct archive_members *archive, struct archive_member *member, struct tally_error *err);
/* Reads up to room_bytes of the member's contents. *len is 0 at its end. */
TALLY_MUST_CHECK enum tally_status archive_members_read(
	struct archive_members *archive, void *room, size_t room_bytes, size_t *len, struct tally_error *err);
/* Must be called once after each successful open. If is_at_end is set (after TALLY_END), checks that bzip2 succeeded;
 * otherwise stops bzip2 and returns TALLY_OK. */
TALLY_MUST_CHECK enum tally_status archive_members_close(
	struct archive_members *archive, bool is_at_end, const char *path, struct tally_error *err);

#endif
