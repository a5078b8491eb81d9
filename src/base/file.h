/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - maps files, reads files as a whole and writes bytes completely. It is the only module of base that opens
 * files.
 *
 * A file_map belongs to the caller until file_map_close. Reads of /proc and /sys go through file_read (their size is
 * not known beforehand).
 *
 *	struct file_map map;
 *	if (file_map_open(path, &map, err) != TALLY_OK) ...
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <dirent.h>

#include "base/bytes.h"
#include "base/text.h"

/* How many bytes of a large file stay in memory while it is read. */
#define FILE_WINDOW_BYTES ((size_t)8 << 20)

struct file_map {
	struct tally_bytes bytes;
	uint64_t device, inode, mtime_ns;
	bool is_mapped; /* else on the heap */
	bool is_kept; /* fd is open, and closed with the map */
	int fd;
};

/* Maps a regular file read-only; an empty file gives len 0. Directories and devices are TALLY_INVALID. */
TALLY_MUST_CHECK enum tally_status file_map_open(const char *path, struct file_map *map, struct tally_error *err);
/* The same, and the file is kept for file_map_view. */
TALLY_MUST_CHECK enum tally_status file_map_open_kept(const char *path, struct file_map *map, struct tally_error *err);
/* The same as file_map_open for an open file; path is for messages. fd stays the caller's. */
TALLY_MUST_CHECK enum tally_status file_map_fd(int fd, const char *path, struct file_map *map, struct tally_error *err);
/* False: the file was written to or truncated since it was mapped. A file that another file has replaced at its path
 * counts as unchanged. */
bool file_map_is_unchanged(const struct file_map *map, const char *path);
void file_map_close(struct file_map *map);
/* Says that a part of it will be read soon: its pages are mapped in one go where the kernel can. */
void file_map_expect(const struct file_map *map, struct tally_bytes part);
/* Tells the kernel that a part will hardly be read again: its complete pages leave this process's memory. */
void file_map_drop(const struct file_map *map, struct tally_bytes part);
/* The bytes of a part, for callers that read each byte once. Bytes of a kept file are copied to room, which is cheaper
 * than mapping their pages (the missing bytes of a truncated file are zeros); otherwise the part itself is returned. */
struct tally_bytes file_map_view(const struct file_map *map, struct tally_bytes part, uint8_t *room);

/* Reads to the end into memory the caller frees, NUL-terminated after len; more than limit bytes is TALLY_LIMIT. */
TALLY_MUST_CHECK enum tally_status file_read(
	const char *path, size_t limit, char **data, size_t *len, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status file_read_fd(
	int fd, size_t limit, char **data, size_t *len, struct tally_error *err);
/* Reads the available bytes, at least one except at the end (*len 0); continues after EINTR. */
TALLY_MUST_CHECK enum tally_status file_read_some(
	int fd, void *room, size_t room_bytes, size_t *len, struct tally_error *err);
/* Writes all bytes, and continues after EINTR and short writes. */
TALLY_MUST_CHECK enum tally_status file_write_all(int fd, const void *data, size_t len, struct tally_error *err);
/* Positioned; same rules. */
TALLY_MUST_CHECK enum tally_status file_write_all_at(
	int fd, const void *data, size_t len, uint64_t offset, struct tally_error *err);
/* ioctl(2), whose request is an int in some C libraries, where the numbers of many do not fit. */
int file_ioctl(int fd, unsigned long request, void *argument);
/* The time of the last write to an open file or pipe; 0: not known. */
uint64_t file_modified_ns(int fd);
bool file_exists(const char *path);
/* The next entry of a folder. NULL: errno is 0 at the end, or says why the rest cannot be read. */
struct dirent *file_next_entry(DIR *folder);
/* False for symbolic links, too. */
bool file_is_regular(const char *path);
/* Creates the parents of path as needed. */
TALLY_MUST_CHECK enum tally_status file_make_parents(const char *path, struct tally_error *err);
/* The same for what others shall not read: folders that it creates are their owner's alone (0700). */
TALLY_MUST_CHECK enum tally_status file_make_private_parents(const char *path, struct tally_error *err);
/* Creates an empty file that only its owner may read and write (0600). A file that is there already stays as it is, and
 * whoever opens it next says what is wrong if it cannot be created. */
void file_make_private(const char *path);
/* Whether users other than the owner and the group may read a file, and reach it in its folder. */
bool file_is_exposed(const char *path);

#endif
