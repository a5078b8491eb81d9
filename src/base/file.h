/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - maps files, reads complete files, and writes all bytes of a buffer.
 *
 * A file_map belongs to the caller until file_map_close. For files of /proc and /sys, use file_read, because their size
 * is not known beforehand.
 *
 *	struct file_map map;
 *	if (file_map_open(path, &map, err) != TALLY_OK) ...
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <dirent.h>

#include "base/bytes.h"
#include "base/text.h"

/* Number of bytes of a large file that stay in memory while it is read. */
#define FILE_WINDOW_BYTES ((size_t)8 << 20)

struct file_map {
	struct tally_bytes bytes;
	uint64_t device, inode, mtime_ns;
	bool is_mapped; /* False if the bytes are on the heap. */
	bool is_kept; /* True if fd is open and file_map_close closes it. */
	int fd;
};

/* Maps a regular file read-only; an empty file has length 0. Returns TALLY_INVALID for directories and devices. */
TALLY_MUST_CHECK enum tally_status file_map_open(const char *path, struct file_map *map, struct tally_error *err);
/* Does the same, and keeps the file open for file_map_view. */
TALLY_MUST_CHECK enum tally_status file_map_open_kept(const char *path, struct file_map *map, struct tally_error *err);
/* Does the same as file_map_open for an open file, which stays owned by the caller. path is used in messages. */
TALLY_MUST_CHECK enum tally_status file_map_fd(int fd, const char *path, struct file_map *map, struct tally_error *err);
/*
 * Returns false if the file was written to or truncated since it was mapped. A file that was deleted or replaced by
 * another one at its path counts as unchanged, because the mapped file still exists.
 */
bool file_map_is_unchanged(const struct file_map *map, const char *path);
void file_map_close(struct file_map *map);
/* Hints that a part will be read soon, so that its pages are mapped at once where the kernel can. */
void file_map_expect(const struct file_map *map, struct tally_bytes part);
/* Hints that a part will probably not be read again: its complete pages leave this process's memory. */
void file_map_drop(const struct file_map *map, struct tally_bytes part);
/*
 * Returns the bytes of a part, for callers that read each byte once. For a map of file_map_open_kept, it copies them to
 * room, which is cheaper than mapping their pages, and replaces missing bytes of a truncated file by zeros; otherwise
 * it returns part.
 */
struct tally_bytes file_map_view(const struct file_map *map, struct tally_bytes part, uint8_t *room);

/*
 * Reads to the end into memory that the caller frees, with a NUL after len bytes. Returns TALLY_LIMIT if there are more
 * than limit bytes.
 */
TALLY_MUST_CHECK enum tally_status file_read(
	const char *path, size_t limit, char **data, size_t *len, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status file_read_fd(
	int fd, size_t limit, char **data, size_t *len, struct tally_error *err);
/* Reads the available bytes, at least one; *len is 0 at the end of the file. Continues after EINTR. */
TALLY_MUST_CHECK enum tally_status file_read_some(
	int fd, void *room, size_t room_bytes, size_t *len, struct tally_error *err);
/* Writes all bytes, and continues after EINTR and short writes. */
TALLY_MUST_CHECK enum tally_status file_write_all(int fd, const void *data, size_t len, struct tally_error *err);
/* Does the same at an offset of the file. */
TALLY_MUST_CHECK enum tally_status file_write_all_at(
	int fd, const void *data, size_t len, uint64_t offset, struct tally_error *err);
/* Calls ioctl(2). Some C libraries declare its request as an int, which is too small for many request numbers. */
int file_ioctl(int fd, unsigned long request, void *argument);
/* Returns the time of the last write to an open file or pipe, in nanoseconds since 1970; 0 if it is not known. */
uint64_t file_modified_ns(int fd);
bool file_exists(const char *path);
/* Returns the next entry of a directory; NULL at the end with errno 0, or after an error with another errno. */
struct dirent *file_next_entry(DIR *folder);
/* Returns false for symbolic links, too. */
bool file_is_regular(const char *path);
/* Creates the missing parent directories of path. */
TALLY_MUST_CHECK enum tally_status file_make_parents(const char *path, struct tally_error *err);
/* Does the same with directories that only their owner can access (0700). */
TALLY_MUST_CHECK enum tally_status file_make_private_parents(const char *path, struct tally_error *err);
/*
 * Creates an empty file that only its owner may read and write (0600). An existing file is not changed. Errors are
 * ignored, because opening the file reports them.
 */
void file_make_private(const char *path);
/* Returns true if users other than the owner and the group may read a file and search its directory. */
bool file_is_exposed(const char *path);

#endif
