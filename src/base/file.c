/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupts.h"
#include "base/limit_note.h"
#include "base/limits.h"
#include "base/vec.h"

static enum tally_status io_error(struct tally_error *err, const char *path, int errnum)
{
	enum tally_status status = TALLY_IO;
	if (errnum == ENOENT || errnum == ENOTDIR)
		status = TALLY_NOT_FOUND;
	else if (errnum == EACCES || errnum == EPERM)
		status = TALLY_DENIED;
	return error_set_errno(err, status, errnum, "%s", path);
}

static uint64_t modified_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * UINT64_C(1000000000) + (uint64_t)st->st_mtim.tv_nsec;
}

int file_ioctl(int fd, unsigned long request, void *argument)
{
	return (int)syscall(SYS_ioctl, fd, request, argument);
}

uint64_t file_modified_ns(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 ? modified_ns(&st) : 0;
}

static enum tally_status not_regular(const char *path, struct tally_error *err)
{
	return error_set(err, TALLY_INVALID, "%s: not a regular file", path);
}

enum tally_status file_map_fd(int fd, const char *path, struct file_map *map, struct tally_error *err)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return io_error(err, path, errno);
	if (!S_ISREG(st.st_mode))
		return not_regular(path, err);
	struct file_map result = {
		.bytes = {(const uint8_t *)"", (size_t)st.st_size},
		.device = st.st_dev,
		.inode = st.st_ino,
		.mtime_ns = modified_ns(&st),
	};
	if (st.st_size > 0) {
		void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data == MAP_FAILED)
			return io_error(err, path, errno);
		result.bytes.data = data;
		result.is_mapped = true;
	}
	*map = result;
	return TALLY_OK;
}

static enum tally_status open_map(const char *path, bool is_kept, struct file_map *map, struct tally_error *err)
{
	struct stat st;
	/*
	 * Checked before opening, which affects some devices, and afterwards, because the path may name another file by
	 * then.
	 */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return not_regular(path, err);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return io_error(err, path, errno);
	enum tally_status status = file_map_fd(fd, path, map, err);
	if (status == TALLY_OK && is_kept) {
		map->is_kept = true;
		map->fd = fd;
	} else {
		close(fd);
	}
	return status;
}

enum tally_status file_map_open(const char *path, struct file_map *map, struct tally_error *err)
{
	return open_map(path, false, map, err);
}

enum tally_status file_map_open_kept(const char *path, struct file_map *map, struct tally_error *err)
{
	return open_map(path, true, map, err);
}

bool file_map_is_unchanged(const struct file_map *map, const char *path)
{
	struct stat st;
	if (stat(path, &st) != 0 || st.st_dev != map->device || st.st_ino != map->inode)
		return true;
	return (size_t)st.st_size == map->bytes.len && modified_ns(&st) == map->mtime_ns;
}

void file_map_close(struct file_map *map)
{
	if (map->is_mapped)
		munmap((void *)(uintptr_t)map->bytes.data, map->bytes.len);
	if (map->is_kept)
		close(map->fd);
	*map = (struct file_map){0};
}

static bool has_part(const struct file_map *map, struct tally_bytes part)
{
	return part.data >= map->bytes.data && part.data + part.len <= map->bytes.data + map->bytes.len;
}

/* Advises from the page of the first byte up to the page of the end, so that adjacent parts skip no page. */
static void file_advise(const struct file_map *map, struct tally_bytes part, int advice)
{
	if (!map->is_mapped || part.len == 0)
		return;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)part.data & ~(page - 1);
	uintptr_t end = (uintptr_t)part.data + part.len;
	if (part.data + part.len != map->bytes.data + map->bytes.len)
		end &= ~(page - 1);
	if (has_part(map, part) && end > start)
		(void)madvise((void *)start, end - start, advice);
}

void file_map_expect(const struct file_map *map, struct tally_bytes part)
{
#ifdef MADV_POPULATE_READ
	file_advise(map, part, MADV_POPULATE_READ);
#endif
}

void file_map_drop(const struct file_map *map, struct tally_bytes part)
{
	file_advise(map, part, MADV_DONTNEED);
}

struct tally_bytes file_map_view(const struct file_map *map, struct tally_bytes part, uint8_t *room)
{
	if (!map->is_kept || !has_part(map, part))
		return part;
	off_t start = part.data - map->bytes.data;
	size_t done = 0;
	unsigned interrupts = 0;
	while (done < part.len) {
		ssize_t n = pread(map->fd, room + done, part.len - done, start + (off_t)done);
		if (n < 0 && is_interrupted(&interrupts))
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	memset(room + done, 0, part.len - done);
	return (struct tally_bytes){room, part.len};
}

#define READ_STEP  65536
#define READ_LEAST 4096

/* Limit of a read from which on a longer file is reported: reads with less only identify a file. */
#define NOTED_LIMIT (1u << 20)

enum tally_status file_read_fd(int fd, size_t limit, char **data, size_t *len, struct tally_error *err)
{
	VEC(char) buffer = {0};
	struct stat st;
	/* Files in /proc have a size of 0. */
	size_t expected = fstat(fd, &st) == 0 && st.st_size > 0 && (size_t)st.st_size <= limit ? (size_t)st.st_size : 0;
	bool has_room = vec_reserve(&buffer, expected + READ_STEP);
	unsigned interrupts = 0;
	for (;;) {
		if (has_room && buffer.cap - buffer.len < READ_LEAST)
			has_room = vec_reserve(&buffer, buffer.cap + READ_STEP);
		if (!has_room) {
			vec_free(&buffer);
			return error_nomem(err);
		}
		ssize_t n = read(fd, buffer.items + buffer.len, buffer.cap - buffer.len - 1);
		if (n < 0 && is_interrupted(&interrupts))
			continue;
		if (n < 0) {
			int errnum = errno;
			vec_free(&buffer);
			return error_set_errno(err, TALLY_IO, errnum, "read");
		}
		if (n == 0)
			break;
		buffer.len += (size_t)n;
		if (buffer.len > limit) {
			vec_free(&buffer);
			return error_set(err, TALLY_LIMIT, "longer than %zu bytes", limit);
		}
	}
	buffer.items[buffer.len] = '\0';
	*data = buffer.items;
	*len = buffer.len;
	return TALLY_OK;
}

enum tally_status file_read_some(int fd, void *room, size_t room_bytes, size_t *len, struct tally_error *err)
{
	unsigned interrupts = 0;
	for (;;) {
		ssize_t n = read(fd, room, room_bytes);
		if (n >= 0) {
			*len = (size_t)n;
			return TALLY_OK;
		}
		if (!is_interrupted(&interrupts))
			return error_set_errno(err, TALLY_IO, errno, "read");
	}
}

enum tally_status file_read(const char *path, size_t limit, char **data, size_t *len, struct tally_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return io_error(err, path, errno);
	enum tally_status status = file_read_fd(fd, limit, data, len, err);
	close(fd);
	if (status == TALLY_LIMIT && limit >= NOTED_LIMIT)
		limit_note("%s is longer than %zu bytes: what it says is left out", path, limit);
	if (status != TALLY_OK)
		error_prefix(err, "%s", path);
	return status;
}

enum tally_status file_write_all(int fd, const void *data, size_t len, struct tally_error *err)
{
	const char *p = data;
	unsigned interrupts = 0;
	while (len > 0) {
		ssize_t n = write(fd, p, len);
		if (n < 0 && is_interrupted(&interrupts))
			continue;
		if (n < 0)
			return error_set_errno(err, TALLY_IO, errno, "write");
		p += n;
		len -= (size_t)n;
	}
	return TALLY_OK;
}

enum tally_status file_write_all_at(int fd, const void *data, size_t len, uint64_t offset, struct tally_error *err)
{
	const char *p = data;
	unsigned interrupts = 0;
	while (len > 0) {
		ssize_t n = pwrite(fd, p, len, (off_t)offset);
		if (n < 0 && is_interrupted(&interrupts))
			continue;
		if (n < 0)
			return error_set_errno(err, TALLY_IO, errno, "write");
		p += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return TALLY_OK;
}

bool file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

bool file_is_regular(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static enum tally_status file_make_folders(const char *path, mode_t mode, struct tally_error *err)
{
	char *copy = strdup(path);
	if (!copy)
		return error_nomem(err);
	enum tally_status status = TALLY_OK;
	for (char *slash = strchr(copy + 1, '/'); slash && status == TALLY_OK; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, mode) != 0 && errno != EEXIST)
			status = io_error(err, copy, errno);
		*slash = '/';
	}
	free(copy);
	return status;
}

enum tally_status file_make_parents(const char *path, struct tally_error *err)
{
	return file_make_folders(path, 0777, err);
}

enum tally_status file_make_private_parents(const char *path, struct tally_error *err)
{
	return file_make_folders(path, 0700, err);
}

void file_make_private(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		close(fd);
}

bool file_is_exposed(const char *path)
{
	struct stat file, folder;
	const char *slash = strrchr(path, '/');
	if (stat(path, &file) != 0 || !(file.st_mode & S_IROTH))
		return false;
	char *parent = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	bool is_closed = parent && stat(parent, &folder) == 0 && !(folder.st_mode & S_IXOTH);
	free(parent);
	return !is_closed;
}

struct dirent *file_next_entry(DIR *folder)
{
	errno = 0;
	return readdir(folder);
}
