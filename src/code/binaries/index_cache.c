/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/index_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/order.h"
#include "base/own_home.h"
#include "base/vec.h"

/* Maximum age in seconds of a file's modification time, which stands for its last use, before it is updated. */
#define TOUCH_S		      86400
#define INDEX_CACHE_FILE_MODE 0600
#define INDEX_CACHE_DIR_MODE  0700

static const char *const suffixes[INDEX_KINDS] = {".lines", ".kallsyms"};

bool index_cache_dir(const char *wanted, char dir[PATH_MAX])
{
	const char *own = wanted ? wanted : getenv("TALLY_CACHE");
	char folder[PATH_MAX];
	int n = 0;
	if (own)
		n = snprintf(dir, PATH_MAX, "%s", own);
	else if (own_cache_home(folder))
		n = snprintf(dir, PATH_MAX, "%s/tally", folder);
	else if (own_home(folder))
		n = snprintf(dir, PATH_MAX, "%s/.cache/tally", folder);
	return n > 0 && n < PATH_MAX;
}

bool index_cache_path(const struct index_key *key, char path[PATH_MAX])
{
	const struct elf_build_id *id = key->id;
	char hex[2 * ELF_BUILD_ID_MAX + 1];
	if (id->size < 2)
		return false;
	for (size_t i = 0; i < id->size && i < ELF_BUILD_ID_MAX; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
	char variant[16] = "";
	if (key->kind == INDEX_LINES)
		snprintf(variant, sizeof(variant), "-%08x", key->variant);
	int n = snprintf(path, PATH_MAX, "%s/%.2s/%s%s%s", key->dir, hex, hex + 2, variant, suffixes[key->kind]);
	return n > 0 && n < PATH_MAX;
}

enum tally_status index_cache_open(const struct index_key *key, struct file_map *map, struct tally_error *err)
{
	char path[PATH_MAX];
	struct stat st;
	if (!index_cache_path(key, path))
		return error_set(err, TALLY_NOT_FOUND, "no index without a build id");
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, TALLY_NOT_FOUND, errno, "%s", path);
	enum tally_status status;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		status = error_set(err, TALLY_INVALID, "%s: not a file of this user", path);
	else
		status = file_map_fd(fd, path, map, err);
	if (status == TALLY_OK && time(NULL) - st.st_mtime > TOUCH_S)
		(void)futimens(fd, NULL); /* A failure affects only the order in which files are removed. */
	close(fd);
	return status;
}

struct cached {
	const char *path;
	uint64_t bytes;
	time_t used;
};

struct index_cache_listing {
	struct arena arena;
	VEC(struct cached) files;
	uint64_t bytes;
};

static bool is_index(struct tally_str name)
{
	for (size_t i = 0; i < INDEX_KINDS; i++)
		if (str_ends_with(name, str_from(suffixes[i])))
			return true;
	return false;
}

static void index_cache_list_folder(struct index_cache_listing *listing, const char *folder)
{
	DIR *stream = opendir(folder);
	struct dirent *entry;
	while (stream && (entry = readdir(stream))) {
		struct stat st;
		if (!is_index(str_from(entry->d_name)) ||
			fstatat(dirfd(stream), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
			continue;
		struct cached file = {arena_printf(&listing->arena, "%s/%s", folder, entry->d_name),
			(uint64_t)st.st_size, st.st_mtime};
		if (file.path && vec_push(&listing->files, file))
			listing->bytes += file.bytes;
	}
	if (stream)
		closedir(stream);
}

static int by_age(const void *a, const void *b)
{
	const struct cached *left = a, *right = b;
	return COMPARE(left->used, right->used);
}

/* Removes the least recently used files until the rest fits in max_bytes. */
static void index_cache_trim(const char *dir, uint64_t max_bytes)
{
	struct index_cache_listing listing = {.bytes = 0};
	char folder[PATH_MAX];
	arena_init(&listing.arena);
	for (unsigned i = 0; i < 256; i++) {
		int n = snprintf(folder, sizeof(folder), "%s/%02x", dir, i);
		if (n > 0 && n < PATH_MAX)
			index_cache_list_folder(&listing, folder);
	}
	if (listing.bytes > max_bytes)
		qsort(listing.files.items, listing.files.len, sizeof(*listing.files.items), by_age);
	for (size_t i = 0; i < listing.files.len && listing.bytes > max_bytes; i++)
		if (unlink(listing.files.items[i].path) == 0)
			listing.bytes -= listing.files.items[i].bytes;
	vec_free(&listing.files);
	arena_deinit(&listing.arena);
}

static bool make_folders(const char *path)
{
	char folder[PATH_MAX];
	snprintf(folder, sizeof(folder), "%s", path);
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(folder, INDEX_CACHE_DIR_MODE) != 0 && errno != EEXIST)
			return false;
		*slash = '/';
	}
	return true;
}

enum tally_status index_cache_create(const struct index_key *key, struct index_file *file, struct tally_error *err)
{
	file->bytes = 0;
	if (!index_cache_path(key, file->path))
		return error_set(err, TALLY_INVALID, "no index without a build id");
	int n = snprintf(file->beside, sizeof(file->beside), "%s.XXXXXX", file->path);
	if (n < 0 || n >= PATH_MAX || !make_folders(file->path))
		return error_set_errno(err, TALLY_IO, errno, "%s", file->path);
	file->fd = mkostemp(file->beside, O_CLOEXEC);
	if (file->fd < 0)
		return error_set_errno(err, TALLY_IO, errno, "%s", file->beside);
	return TALLY_OK;
}

enum tally_status index_cache_put(
	struct index_file *file, uint64_t offset, struct tally_bytes bytes, struct tally_error *err)
{
	if (offset + bytes.len > file->bytes)
		file->bytes = offset + bytes.len;
	return file_write_all_at(file->fd, bytes.data, bytes.len, offset, err);
}

enum tally_status index_cache_finish(
	const char *dir, struct index_file *file, uint64_t max_bytes, enum tally_status status, struct tally_error *err)
{
	if (status == TALLY_OK && file->bytes > max_bytes)
		status = error_set(err, TALLY_LIMIT, "an index of %llu bytes is too large to be kept",
			(unsigned long long)file->bytes);
	if (fchmod(file->fd, INDEX_CACHE_FILE_MODE) != 0 && status == TALLY_OK)
		status = error_set_errno(err, TALLY_IO, errno, "%s", file->beside);
	if (close(file->fd) != 0 && status == TALLY_OK)
		status = error_set_errno(err, TALLY_IO, errno, "%s", file->beside);
	if (status == TALLY_OK && rename(file->beside, file->path) != 0)
		status = error_set_errno(err, TALLY_IO, errno, "%s", file->path);
	if (status != TALLY_OK)
		(void)unlink(file->beside);
	else
		index_cache_trim(dir, max_bytes);
	return status;
}
