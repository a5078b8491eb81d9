/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_members.h - reads the members of a .tar.bz2 archive one after another, as perf archive makes it.
 *
 * It writes nothing: the caller decides what to do with a member. bzip2 decompresses the archive in its own process. It
 * reads ustar, GNU's long names and pax headers. Every field is checked; a damaged archive gives TALLY_CORRUPT with the
 * offset in bzip2's output, and one that expands too much gives TALLY_LIMIT.
 *
 *	struct archive_members archive;   archive_members_open(path, &archive, err);
 *	while (archive_members_next(&archive, &member, err) == TALLY_OK) ... archive_members_read(&archive, room, n, &len, err)
 *	archive_members_close(&archive, err);
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
	char name[PATH_MAX], link[PATH_MAX]; /* link: what a symbolic or hard link leads to */
	char type; /* tar's letter; ARCHIVE_REGULAR for its older forms, too */
	uint64_t size;
};

struct archive_members {
	int fd; /* from bzip2 */
	pid_t pid;
	uint64_t offset, most; /* more than that is not unpacked */
	uint64_t left, padding; /* of the member that was given last: its bytes, and those up to the next header */
};

/* INVALID: no regular file. Never waits for a pipe's or a device's other end. */
TALLY_MUST_CHECK enum tally_status archive_members_open(
	const char *path, struct archive_members *archive, struct tally_error *err);
/* TALLY_END after the last. Skips the unread rest of the previous member. */
TALLY_MUST_CHECK enum tally_status archive_members_next(
	struct archive_members *archive, struct archive_member *member, struct tally_error *err);
/* Up to room_bytes of the member's contents; *len 0: that was all. */
TALLY_MUST_CHECK enum tally_status archive_members_read(
	struct archive_members *archive, void *room, size_t room_bytes, size_t *len, struct tally_error *err);
/* After TALLY_END: the result of bzip2 for the whole file. Before that, it stops bzip2 and returns TALLY_OK. Call it
 * once for each open. */
TALLY_MUST_CHECK enum tally_status archive_members_close(
	struct archive_members *archive, bool is_at_end, const char *path, struct tally_error *err);

#endif
