/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/build_id_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupts.h"
#include "base/order.h"
#include "base/own_home.h"
#include "code/binaries/kernel_list_cache.h"
#include "code/binaries/vdso_image.h"

#define LINKS	   ".build-id"
#define SELF_BYTES 32
#define HEX_BYTES  (2 * ELF_BUILD_ID_MAX + 1)
/* Maximum number of bytes per copy_file_range call; the kernel may copy fewer. */
#define COPY_BYTES		 (64u << 20)
#define DEBUG_FOLDER		 "/usr/lib/debug/.build-id"
#define BUILD_ID_CACHE_DIR_MODE	 0755
#define BUILD_ID_CACHE_FILE_MODE 0755 /* perf uses this mode for programs and kernel symbols. */
#define VDSO_MODE		 0600
#define PROBES_MODE		 0644

static const char *const contents[] = {"elf", "kallsyms", "vdso", "debug", "probes", "kcore", "modules"};
#define CONTENT_COUNT (ARRAY_LEN(contents))
#define MAIN_CONTENTS 3 /* An entry is valid only if at least one of the first MAIN_CONTENTS files exists. */

static void build_id_cache_close_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define AUTO_CLOSE __attribute__((cleanup(build_id_cache_close_fd)))

bool build_id_cache_is_trusted(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && (st.st_uid == geteuid() || st.st_uid == 0) && !(st.st_mode & S_IWOTH);
}

static void build_id_cache_hex_of(const struct elf_build_id *id, char hex[HEX_BYTES])
{
	for (size_t i = 0; i < id->size && i < ELF_BUILD_ID_MAX; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
	if (id->size == 0)
		hex[0] = '\0';
}

static bool build_id_cache_id_of(const char *first, const char *rest, struct elf_build_id *id)
{
	char hex[HEX_BYTES];
	int len = snprintf(hex, sizeof(hex), "%s%s", first, rest);
	if (len < 4 || len >= (int)sizeof(hex) || len % 2)
		return false;
	*id = (struct elf_build_id){.size = (uint8_t)(len / 2)};
	for (size_t i = 0; i < id->size; i++) {
		uint64_t byte;
		if (!str_to_u64((struct tally_str){hex + 2 * i, 2}, 16, &byte))
			return false;
		id->bytes[i] = (uint8_t)byte;
	}
	return true;
}

enum tally_status build_id_cache_init(struct build_id_cache *cache, const char *dir, struct tally_error *err)
{
	char home[PATH_MAX] = "";
	if (!dir && !own_home(home))
		return error_set(err, TALLY_NOT_FOUND, "no build-ID cache: HOME is not set");
	int len = snprintf(cache->dir, sizeof(cache->dir), "%s%s", dir ? dir : home, dir ? "" : "/.debug");
	if (len >= (int)sizeof(cache->dir))
		return error_set(err, TALLY_INVALID, "the path of the build-id directory is too long");
	return TALLY_OK;
}

bool build_id_cache_name_is_safe(struct tally_str name)
{
	struct tally_str rest = name, part;
	bool is_bracketed = str_starts_with(name, STR("[")) && str_ends_with(name, STR("]"));
	bool is_first = true;
	if (name.len < 2 || name.len > PATH_MAX / 2 || memchr(name.data, '\0', name.len))
		return false;
	if (is_bracketed)
		return !memchr(name.data, '/', name.len);
	if (name.data[0] != '/')
		return false;
	rest.data++;
	rest.len--;
	while (str_next(&rest, '/', &part)) {
		if (part.len == 0 || part.len > NAME_MAX || str_equal(part, STR(".")) || str_equal(part, STR("..")) ||
			(is_first && str_equal(part, STR(LINKS))))
			return false;
		is_first = false;
	}
	return true;
}

static int open_folder(int at, const char *name, bool make)
{
	if (make && mkdirat(at, name, BUILD_ID_CACHE_DIR_MODE) != 0 && errno != EEXIST)
		return -1;
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Does the same as open_below in one call. Returns -1 before Linux 5.6 or if the folder does not exist. */
static int open_in_one(int at, struct tally_str path)
{
	const struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	char name[PATH_MAX];
	if (path.len >= sizeof(name))
		return -1;
	memcpy(name, path.data, path.len);
	name[path.len] = '\0';
	return (int)syscall(SYS_openat2, at, name, &how, sizeof(how));
}

/* Opens the folder at a relative path, without following symbolic links. */
static int open_below(int at, struct tally_str path, bool make)
{
	struct tally_str part;
	int fd = make ? -1 : open_in_one(at, path);
	if (fd >= 0)
		return fd;
	fd = dup(at);
	while (fd >= 0 && str_next(&path, '/', &part)) {
		char name[NAME_MAX + 1];
		if (part.len == 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)part.len, part.data);
		int next = open_folder(fd, name, make);
		int kept = errno;
		close(fd);
		errno = kept;
		fd = next;
	}
	return fd;
}

/* The cache folder itself may be a symbolic link that the user made, so it alone is opened without O_NOFOLLOW. */
static int open_root(const struct build_id_cache *cache, bool make)
{
	if (make && (file_make_parents(cache->dir, NULL) != TALLY_OK ||
			    (mkdir(cache->dir, BUILD_ID_CACHE_DIR_MODE) != 0 && errno != EEXIST)))
		return -1;
	return open(cache->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static enum tally_status build_id_cache_fail(
	const struct build_id_cache *cache, const char *what, struct tally_error *err)
{
	int errnum = errno;
	enum tally_status status = errnum == EACCES || errnum == EPERM || errnum == EROFS ? TALLY_DENIED
				   : errnum == ENOENT					  ? TALLY_NOT_FOUND
											  : TALLY_IO;
	error_set(err, status, "cannot %s in %s: %s", what, cache->dir, strerror(errnum));
	if (err)
		err->errnum = errnum;
	return status;
}

struct entry_place {
	int root, folder;
	char hex[HEX_BYTES];
	char target[PATH_MAX]; /* Target of the symbolic link: "../../usr/bin/ls/<id>". */
};

static void close_place(const struct entry_place *place)
{
	build_id_cache_close_fd(&place->folder);
	build_id_cache_close_fd(&place->root);
}
#define AUTO_PLACE __attribute__((cleanup(close_place)))

static enum tally_status make_place(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, struct entry_place *place, struct tally_error *err)
{
	if (id->size < 2 || id->size > ELF_BUILD_ID_MAX)
		return error_set(err, TALLY_INVALID, "a build id of %u bytes", id->size);
	if (!build_id_cache_name_is_safe(name))
		return error_set(err, TALLY_INVALID, "only files with a plain absolute path are cached");
	if (cache->dir[0] != '/')
		return error_set(
			err, TALLY_INVALID, "the build-id directory needs an absolute path, not '%s'", cache->dir);
	build_id_cache_hex_of(id, place->hex);
	snprintf(place->target, sizeof(place->target), "../..%s%.*s/%s", name.data[0] == '/' ? "" : "/", (int)name.len,
		name.data, place->hex);
	place->root = open_root(cache, true);
	if (place->root >= 0)
		place->folder = open_below(place->root, str_from(place->target + strlen("../../")), true);
	return place->folder >= 0 ? TALLY_OK : build_id_cache_fail(cache, "make a folder", err);
}

static void temporary_name(char *name, size_t size)
{
	snprintf(name, size, ".tmp-%d", (int)getpid());
}

static enum tally_status put_link(
	const struct build_id_cache *cache, const struct entry_place *place, struct tally_error *err)
{
	char folder[3] = {place->hex[0], place->hex[1], '\0'}, temporary[32];
	temporary_name(temporary, sizeof(temporary));
	AUTO_CLOSE int links = open_folder(place->root, LINKS, true);
	AUTO_CLOSE int at = links >= 0 ? open_folder(links, folder, true) : -1;
	if (at < 0)
		return build_id_cache_fail(cache, "make a folder", err);
	(void)unlinkat(at, temporary, 0);
	if (symlinkat(place->target, at, temporary) != 0)
		return build_id_cache_fail(cache, "make a link", err);
	if (renameat(at, temporary, at, place->hex + 2) == 0)
		return TALLY_OK;
	enum tally_status status = build_id_cache_fail(cache, "put a link", err);
	(void)unlinkat(at, temporary, 0);
	return status;
}

/* Renames the temporary file to its final name in the entry. */
static enum tally_status build_id_cache_put_file(const struct build_id_cache *cache, const struct entry_place *place,
	const char *temporary, const char *name, struct tally_error *err)
{
	bool ok = renameat(place->folder, temporary, place->folder, name) == 0;
	enum tally_status status = ok ? TALLY_OK : build_id_cache_fail(cache, "put a file", err);
	/* rename(2) does nothing if both names are links to the same file, so the temporary name may remain. */
	(void)unlinkat(place->folder, temporary, 0);
	return status;
}

/* /proc/self/fd names the open file itself, so the file that was checked is the one that is linked. */
static void self_path(int fd, char path[SELF_BYTES])
{
	snprintf(path, SELF_BYTES, "/proc/self/fd/%d", fd);
}

/* Copies from offset 0, regardless of the descriptor's position, because the same descriptor may be copied twice. */
static bool copy_all(int from, int to)
{
	off_t at = 0;
	unsigned interrupts = 0;
	for (;;) {
		ssize_t n = copy_file_range(from, &at, to, NULL, COPY_BYTES, 0);
		if (n == 0)
			return true;
		if (n < 0 && !is_interrupted(&interrupts))
			break;
	}
	char self[SELF_BYTES];
	struct file_map map;
	if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
		return false;
	self_path(from, self);
	if (file_map_open(self, &map, NULL) != TALLY_OK)
		return false;
	bool ok = file_write_all_at(to, map.bytes.data, map.bytes.len, 0, NULL) == TALLY_OK;
	file_map_close(&map);
	return ok;
}

/* A hard link shares the file, so another user with write access could change the code behind this build ID later. */
static bool may_link(int fd)
{
	struct stat st;
	return build_id_cache_is_trusted(fd) && fstat(fd, &st) == 0 && !(st.st_mode & S_IWGRP);
}

static enum tally_status link_or_copy(const struct build_id_cache *cache, const struct entry_place *place, int source,
	const char *name, struct tally_error *err)
{
	char self[SELF_BYTES], temporary[32];
	self_path(source, self);
	temporary_name(temporary, sizeof(temporary));
	(void)unlinkat(place->folder, temporary, 0);
	if (may_link(source) && linkat(AT_FDCWD, self, place->folder, temporary, AT_SYMLINK_FOLLOW) == 0)
		return build_id_cache_put_file(cache, place, temporary, name, err);
	AUTO_CLOSE int to = openat(place->folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		BUILD_ID_CACHE_FILE_MODE);
	if (to >= 0 && copy_all(source, to))
		return build_id_cache_put_file(cache, place, temporary, name, err);
	enum tally_status status = build_id_cache_fail(cache, "copy a file", err);
	(void)unlinkat(place->folder, temporary, 0);
	return status;
}

struct made_file {
	const char *name;
	mode_t mode;
	struct tally_bytes bytes;
};

static enum tally_status build_id_cache_put_bytes(const struct build_id_cache *cache, const struct entry_place *place,
	const struct made_file *file, struct tally_error *err)
{
	char temporary[32];
	temporary_name(temporary, sizeof(temporary));
	(void)unlinkat(place->folder, temporary, 0);
	AUTO_CLOSE int to =
		openat(place->folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file->mode);
	if (to >= 0 && file_write_all(to, file->bytes.data, file->bytes.len, NULL) == TALLY_OK)
		return build_id_cache_put_file(cache, place, temporary, file->name, err);
	enum tally_status status = build_id_cache_fail(cache, "write a file", err);
	(void)unlinkat(place->folder, temporary, 0);
	return status;
}

static enum tally_status check_source(int fd, const char *path, const struct elf_build_id *id, struct tally_error *err)
{
	char self[SELF_BYTES];
	struct stat st;
	struct elf_build_id found;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return error_set(err, TALLY_INVALID, "%s is not a regular file", path);
	self_path(fd, self);
	if (elf_file_build_id(self, &found, NULL) != TALLY_OK || found.size != id->size ||
		memcmp(found.bytes, id->bytes, id->size) != 0)
		return error_set(err, TALLY_INVALID, "%s does not have that build id any more", path);
	return TALLY_OK;
}

static enum tally_status build_id_cache_open_source(
	const char *path, const struct elf_build_id *id, int *fd, struct tally_error *err)
{
	/* O_NONBLOCK prevents a FIFO from blocking. */
	*fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0)
		return error_set(
			err, errno == ENOENT ? TALLY_NOT_FOUND : TALLY_IO, "cannot open %s: %s", path, strerror(errno));
	return check_source(*fd, path, id, err);
}

/* Adds the debug file from the distributions' folder to the entry if there is one. */
static void add_debug_file(
	const struct build_id_cache *cache, const struct entry_place *place, const struct elf_build_id *id)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), DEBUG_FOLDER "/%.2s/%s.debug", place->hex, place->hex + 2);
	int source = -1;
	if (build_id_cache_open_source(path, id, &source, NULL) == TALLY_OK)
		(void)!link_or_copy(cache, place, source, "debug", NULL);
	build_id_cache_close_fd(&source);
}

static enum tally_status build_id_cache_add_source(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, int source, struct tally_error *err)
{
	AUTO_PLACE struct entry_place place = {.root = -1, .folder = -1};
	enum tally_status status = make_place(cache, name, id, &place, err);
	if (status == TALLY_OK)
		status = link_or_copy(cache, &place, source, "elf", err);
	if (status != TALLY_OK)
		return status;
	add_debug_file(cache, &place, id);
	return put_link(cache, &place, err);
}

enum tally_status build_id_cache_add(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, const char *path, struct tally_error *err)
{
	AUTO_CLOSE int source = -1;
	enum tally_status status = build_id_cache_open_source(path, id, &source, err);
	return status == TALLY_OK ? build_id_cache_add_source(cache, name, id, source, err) : status;
}

enum tally_status build_id_cache_add_fd(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, int fd, struct tally_error *err)
{
	enum tally_status status = check_source(fd, "the file that was mapped", id, err);
	return status == TALLY_OK ? build_id_cache_add_source(cache, name, id, fd, err) : status;
}

static enum tally_status build_id_cache_add_bytes(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, const struct made_file *file, struct tally_error *err)
{
	AUTO_PLACE struct entry_place place = {.root = -1, .folder = -1};
	enum tally_status status = make_place(cache, name, id, &place, err);
	if (status == TALLY_OK)
		status = build_id_cache_put_bytes(cache, &place, file, err);
	return status == TALLY_OK ? put_link(cache, &place, err) : status;
}

enum tally_status build_id_cache_put(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, const char *file, struct tally_bytes bytes, struct tally_error *err)
{
	return build_id_cache_add_bytes(cache, name, id, &(struct made_file){file, PROBES_MODE, bytes}, err);
}

enum tally_status build_id_cache_add_kernel(
	const struct build_id_cache *cache, const struct elf_build_id *id, struct tally_error *err)
{
	char *text;
	size_t len;
	enum tally_status status = kernel_list_read("/proc/kallsyms", &text, &len, err);
	if (status != TALLY_OK)
		return status;
	struct made_file file = {"kallsyms", BUILD_ID_CACHE_FILE_MODE, {(const uint8_t *)text, len}};
	if (kallsyms_is_hidden(text, len))
		status = error_set(err, TALLY_DENIED, "the kernel hides its addresses: see kptr_restrict");
	else
		status = build_id_cache_add_bytes(cache, STR(BUILD_ID_CACHE_KERNEL), id, &file, err);
	free(text);
	return status;
}

enum tally_status build_id_cache_add_vdso(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, struct tally_error *err)
{
	struct vdso_image image;
	if (!vdso_image_open(name, &image))
		return error_set(err, TALLY_NOT_FOUND, "this machine has no %.*s", (int)name.len, name.data);
	struct made_file file = {"vdso", VDSO_MODE, image.bytes};
	enum tally_status status = build_id_cache_add_bytes(cache, name, id, &file, err);
	vdso_image_close(&image);
	return status;
}

/* Splits "../../usr/bin/ls/<id>" into the path "usr/bin/ls/<id>" and the name. Returns false for any other form of
 * link. */
static bool parse_target(const char *target, const char *hex, struct tally_str *below, struct tally_str *name)
{
	size_t len = strlen(target), hex_len = strlen(hex), up = strlen("../../");
	if (strncmp(target, "../../", up) != 0 || len < up + 2 + hex_len || strcmp(target + len - hex_len, hex) != 0 ||
		target[len - hex_len - 1] != '/')
		return false;
	*below = (struct tally_str){target + up, len - up};
	size_t name_len = len - up - hex_len - 1;
	bool is_bracketed = target[up] == '[';
	/* The name of a file is absolute; its leading slash is the last character of "../../". */
	*name = is_bracketed ? (struct tally_str){target + up, name_len}
			     : (struct tally_str){target + up - 1, name_len + 1};
	return build_id_cache_name_is_safe(*name);
}

struct found_entry {
	int folder;
	char target[PATH_MAX];
	struct tally_str name; /* Points into target. */
};

static bool open_entry(int root, const char *first, const char *rest, struct found_entry *found)
{
	char path[NAME_MAX + sizeof(LINKS) + 8], hex[HEX_BYTES];
	struct tally_str below;
	found->folder = -1;
	snprintf(path, sizeof(path), LINKS "/%s/%s", first, rest);
	snprintf(hex, sizeof(hex), "%s%s", first, rest);
	ssize_t len = readlinkat(root, path, found->target, sizeof(found->target) - 1);
	if (len <= 0)
		return false;
	found->target[len] = '\0';
	if (!parse_target(found->target, hex, &below, &found->name)) {
		errno = ELOOP;
		return false;
	}
	found->folder = open_below(root, below, false);
	return found->folder >= 0;
}

/* Opens the folder of an entry, to which a symbolic link leads; there may be a real folder in place of the link. */
static int open_entry_folder(const struct build_id_cache *cache, const char hex[HEX_BYTES])
{
	char first[3] = {hex[0], hex[1], '\0'}, path[HEX_BYTES + sizeof(LINKS) + 2];
	struct found_entry found;
	AUTO_CLOSE int root = open_root(cache, false);
	if (root < 0)
		return -1;
	if (open_entry(root, first, hex + 2, &found))
		return found.folder;
	if (errno != EINVAL) /* EINVAL from readlinkat: not a symbolic link. */
		return -1;
	snprintf(path, sizeof(path), LINKS "/%s/%s", first, hex + 2);
	return open_below(root, str_from(path), false);
}

/* Returns whether the file belongs to a trusted user or to the owner of the cache. With sudo, the owner may be another
 * user, but readers of the cache trust its owner. */
static bool is_owners(const struct build_id_cache *cache, int fd)
{
	struct stat st, folder;
	if (build_id_cache_is_trusted(fd))
		return true;
	return fstat(fd, &st) == 0 && stat(cache->dir, &folder) == 0 && st.st_uid == folder.st_uid &&
	       !(st.st_mode & S_IWOTH);
}

enum tally_status build_id_cache_open(const struct build_id_cache *cache, const struct elf_build_id *id,
	const char *file, int *fd, struct tally_error *err)
{
	char hex[HEX_BYTES];
	struct stat st;
	if (id->size < 2 || id->size > ELF_BUILD_ID_MAX)
		return error_set(err, TALLY_NOT_FOUND, "no build id");
	build_id_cache_hex_of(id, hex);
	AUTO_CLOSE int folder = open_entry_folder(cache, hex);
	if (folder < 0)
		return errno == ELOOP || errno == ENOTDIR
			       ? error_set(err, TALLY_INVALID, "%s in %s is not a directory of the build-ID cache", hex,
					 cache->dir)
			       : build_id_cache_fail(cache, "open an entry", err);
	if (fstatat(folder, file, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return build_id_cache_fail(cache, "open a file", err);
	if (!S_ISREG(st.st_mode))
		return error_set(err, TALLY_INVALID, "%s of %s in %s is not a regular file", file, hex, cache->dir);
	int opened = openat(folder, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (opened < 0)
		return build_id_cache_fail(cache, "open a file", err);
	if (!is_owners(cache, opened)) {
		close(opened);
		return error_set(
			err, TALLY_INVALID, "%s of %s in %s can be changed by other users", file, hex, cache->dir);
	}
	*fd = opened;
	return TALLY_OK;
}

bool build_id_cache_is_of(const struct build_id_cache *cache, const struct elf_build_id *id, struct tally_str name)
{
	char hex[HEX_BYTES];
	struct found_entry found;
	if (id->size < 2 || id->size > ELF_BUILD_ID_MAX)
		return false;
	build_id_cache_hex_of(id, hex);
	char first[3] = {hex[0], hex[1], '\0'};
	AUTO_CLOSE int root = open_root(cache, false);
	if (root < 0 || !open_entry(root, first, hex + 2, &found))
		return false;
	close(found.folder);
	return str_equal(found.name, name);
}

static bool build_id_cache_measure(int folder, struct build_id_cache_entry *entry)
{
	bool has_main = false;
	struct stat st;
	if (fstat(folder, &st) == 0)
		entry->time_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	for (size_t i = 0; i < CONTENT_COUNT; i++) {
		if (fstatat(folder, contents[i], &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		has_main |= i < MAIN_CONTENTS;
		if (st.st_nlink == 1)
			entry->bytes += (uint64_t)st.st_size;
	}
	return has_main;
}

bool build_id_cache_has(const struct build_id_cache *cache, const struct elf_build_id *id)
{
	char hex[HEX_BYTES];
	if (id->size < 2 || id->size > ELF_BUILD_ID_MAX)
		return false;
	build_id_cache_hex_of(id, hex);
	char first[3] = {hex[0], hex[1], '\0'};
	AUTO_CLOSE int root = open_root(cache, false);
	struct found_entry found;
	struct build_id_cache_entry entry = {0};
	if (root < 0 || !open_entry(root, first, hex + 2, &found))
		return false;
	bool has = build_id_cache_measure(found.folder, &entry);
	close(found.folder);
	return has;
}

enum tally_status build_id_cache_remove(
	const struct build_id_cache *cache, const struct elf_build_id *id, struct tally_error *err)
{
	char hex[HEX_BYTES] = "", path[HEX_BYTES + sizeof(LINKS) + 2];
	struct found_entry found;
	if (id->size < 2 || id->size > ELF_BUILD_ID_MAX)
		return error_set(err, TALLY_INVALID, "a build id of %u bytes", id->size);
	build_id_cache_hex_of(id, hex);
	char first[3] = {hex[0], hex[1], '\0'};
	AUTO_CLOSE int root = open_root(cache, false);
	if (root < 0 || !open_entry(root, first, hex + 2, &found))
		return error_set(err, TALLY_NOT_FOUND, "%s is not in %s", hex, cache->dir);
	for (size_t i = 0; i < CONTENT_COUNT; i++)
		(void)unlinkat(found.folder, contents[i], 0);
	close(found.folder);
	snprintf(path, sizeof(path), LINKS "/%s/%s", first, hex + 2);
	if (unlinkat(root, found.target + strlen("../../"), AT_REMOVEDIR) != 0 || unlinkat(root, path, 0) != 0)
		return build_id_cache_fail(cache, "remove an entry", err);
	return TALLY_OK;
}

/* Notes a part of the cache that cannot be read, by errno. Absent folders and what is no entry do not count. */
static void note_failure(const struct build_id_cache *cache, const char *what, struct build_id_cache_list *list)
{
	bool is_none = errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EINVAL || errno == EXDEV;
	if (!is_none && list->failures++ == 0)
		(void)build_id_cache_fail(cache, what, &list->failure);
}

static enum tally_status read_links(
	const struct build_id_cache *cache, int root, const char *first, struct build_id_cache_list *list)
{
	AUTO_CLOSE int links = open_folder(root, LINKS, false);
	int at = links >= 0 ? open_folder(links, first, false) : -1;
	DIR *dir = at >= 0 ? fdopendir(at) : NULL;
	if (!dir) {
		note_failure(cache, "open a folder", list);
		build_id_cache_close_fd(&at);
		return TALLY_OK;
	}
	enum tally_status status = TALLY_OK;
	struct dirent *item;
	while (status == TALLY_OK && (item = file_next_entry(dir))) {
		struct build_id_cache_entry entry = {0};
		struct found_entry found;
		if (!build_id_cache_id_of(first, item->d_name, &entry.id))
			continue;
		if (!open_entry(root, first, item->d_name, &found)) {
			note_failure(cache, "read an entry", list);
			continue;
		}
		bool is_valid = build_id_cache_measure(found.folder, &entry);
		close(found.folder);
		if (!is_valid)
			continue;
		entry.name.len = found.name.len;
		entry.name.data = arena_string(&list->arena, found.name.data, found.name.len);
		if (!entry.name.data || !vec_push(&list->entries, entry))
			status = TALLY_NOMEM;
	}
	if (status == TALLY_OK && errno != 0)
		note_failure(cache, "list a folder", list);
	closedir(dir);
	return status;
}

static int build_id_cache_compare_ids(const void *a, const void *b)
{
	const struct build_id_cache_entry *x = a, *y = b;
	int order = memcmp(x->id.bytes, y->id.bytes, sizeof(x->id.bytes));
	return order ? order : COMPARE(x->id.size, y->id.size);
}

enum tally_status build_id_cache_read(
	const struct build_id_cache *cache, struct build_id_cache_list *list, struct tally_error *err)
{
	*list = (struct build_id_cache_list){0};
	arena_init(&list->arena);
	AUTO_CLOSE int root = open_root(cache, false);
	if (root < 0)
		return errno == ENOENT || errno == ENOTDIR ? TALLY_OK : build_id_cache_fail(cache, "look", err);
	for (unsigned byte = 0; byte < 256; byte++) {
		char first[3];
		snprintf(first, sizeof(first), "%02x", byte);
		if (read_links(cache, root, first, list) != TALLY_OK) {
			build_id_cache_list_deinit(list);
			return error_nomem(err);
		}
	}
	if (list->entries.len > 1)
		qsort(list->entries.items, list->entries.len, sizeof(list->entries.items[0]),
			build_id_cache_compare_ids);
	return TALLY_OK;
}

void build_id_cache_list_deinit(struct build_id_cache_list *list)
{
	vec_free(&list->entries);
	arena_deinit(&list->arena);
}

static int build_id_cache_compare_times(const void *a, const void *b)
{
	const struct build_id_cache_entry *x = a, *y = b;
	return x->time_ns != y->time_ns ? (x->time_ns < y->time_ns ? -1 : 1) : build_id_cache_compare_ids(a, b);
}

enum tally_status build_id_cache_trim(
	const struct build_id_cache *cache, uint64_t bytes, size_t *removed, struct tally_error *err)
{
	struct build_id_cache_list list;
	uint64_t held = 0;
	enum tally_status status = build_id_cache_read(cache, &list, err);
	*removed = 0;
	if (status != TALLY_OK)
		return status;
	if (list.entries.len > 1)
		qsort(list.entries.items, list.entries.len, sizeof(list.entries.items[0]),
			build_id_cache_compare_times);
	for (size_t i = 0; i < list.entries.len; i++)
		held += list.entries.items[i].bytes;
	for (size_t i = 0; i < list.entries.len && held > bytes && status == TALLY_OK; i++) {
		const struct build_id_cache_entry *entry = &list.entries.items[i];
		if (entry->bytes == 0)
			continue; /* All of its files have other hard links, so removing it would free no space. */
		status = build_id_cache_remove(cache, &entry->id, err);
		held -= entry->bytes;
		*removed += status == TALLY_OK;
	}
	build_id_cache_list_deinit(&list);
	return status;
}
