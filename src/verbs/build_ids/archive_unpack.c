/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/build_ids/archive_unpack.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "code/binaries/build_id_cache.h"

#define LINKS	   ".build-id/"
#define SHOWN_NAME 200 /* Maximum length of a name in a message. */
#define MAGIC	   "PERFILE2" /* The magic numbers of perf.data in both byte orders. */
#define MAGIC_BACK "2ELIFREP"

/* Returns whether the text is a build ID of 2 to 32 bytes in hex digits. */
static bool is_id(struct tally_str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!isxdigit((unsigned char)text.data[i]))
			return false;
	return text.len >= 4 && text.len <= 64 && text.len % 2 == 0;
}

/* Returns whether the path is relative and has no empty, "." or ".." parts. */
static bool is_plain_path(struct tally_str path)
{
	struct tally_str part;
	if (path.len == 0 || path.len >= PATH_MAX / 2)
		return false;
	while (path.len > 0) {
		if (path.data[0] == '/' || path.data[path.len - 1] == '/' || !str_next(&path, '/', &part))
			return false;
		if (part.len == 0 || part.len > NAME_MAX || str_equal(part, STR(".")) || str_equal(part, STR("..")))
			return false;
	}
	return true;
}

/* Returns whether the path is NAME/ID, where ID is a build ID and NAME is outside of .build-id. *id is set to the last
 * part. */
static bool ends_in_id(struct tally_str path, struct tally_str *id)
{
	const char *slash = memrchr(path.data, '/', path.len);
	if (!slash || !is_plain_path(path))
		return false;
	*id = (struct tally_str){slash + 1, (size_t)(path.data + path.len - slash) - 1};
	return is_id(*id) && !str_starts_with(path, STR(LINKS));
}

static const char *refuses_link(struct tally_str rest, struct tally_str target)
{
	struct tally_str id;
	if (!str_starts_with(target, STR("../../")))
		return "a link that leads out of the cache";
	target.data += strlen("../../");
	target.len -= strlen("../../");
	/* The link "12/3456" belongs to the build ID 123456. */
	bool is_own = ends_in_id(target, &id) && id.len + 1 == rest.len && rest.data[2] == '/' &&
		      memcmp(id.data, rest.data, 2) == 0 && memcmp(id.data + 2, rest.data + 3, id.len - 2) == 0;
	return is_own ? NULL : "a link that does not lead to the folder of the build ID";
}

/* Returns why the member is refused, or NULL. rest is the part of its path after ".build-id/". */
static const char *refuses_below_links(struct tally_str rest, const struct archive_member *member)
{
	struct tally_str at = rest, two, id, file = {"x", 1};
	if (!str_next(&at, '/', &two) || two.len != 2 || !isxdigit((unsigned char)two.data[0]) ||
		!isxdigit((unsigned char)two.data[1]) || !str_next(&at, '/', &id))
		return "a name that is not a build ID";
	if (at.len > 0)
		file = at;
	bool is_file = memchr(file.data, '/', file.len) == NULL;
	if (str_ends_with(id, STR(".debug")))
		id.len -= strlen(".debug");
	for (size_t i = 0; i < id.len; i++)
		if (!isxdigit((unsigned char)id.data[i]))
			return "a name that is not a build ID";
	if (id.len < 2 || !is_file)
		return "a name that is not a build ID";
	return member->type == ARCHIVE_SYMLINK ? refuses_link(rest, str_from(member->link)) : NULL;
}

static const char *refuses_type(const struct archive_member *member)
{
	switch (member->type) {
	case ARCHIVE_REGULAR:
	case ARCHIVE_DIRECTORY:
	case ARCHIVE_SYMLINK:
		return NULL;
	case '1':
		return "a hard link";
	case '3':
	case '4':
		return "a device";
	case '6':
		return "a named pipe";
	default:
		return "not a regular file";
	}
}

static struct tally_str archive_unpack_path_of(const struct archive_member *member)
{
	struct tally_str path = str_from(member->name);
	if (member->type == ARCHIVE_DIRECTORY && str_ends_with(path, STR("/")))
		path.len--;
	if (str_starts_with(path, STR("./"))) {
		path.data += 2;
		path.len -= 2;
	}
	return path;
}

const char *archive_refuses(const struct archive_member *member)
{
	const char *why = refuses_type(member);
	struct tally_str path = archive_unpack_path_of(member), id;
	if (why)
		return why;
	if (member->type == ARCHIVE_DIRECTORY && (path.len == 0 || str_equal(path, STR("."))))
		return NULL;
	if (!is_plain_path(path))
		return "a path that leads out of the cache";
	if (member->type == ARCHIVE_DIRECTORY)
		return NULL; /* A directory is created only when a file is unpacked into it. */
	if (str_starts_with(path, STR(LINKS)))
		return refuses_below_links(
			(struct tally_str){path.data + strlen(LINKS), path.len - strlen(LINKS)}, member);
	if (member->type == ARCHIVE_SYMLINK)
		return "a link outside .build-id";
	const char *slash = memrchr(path.data, '/', path.len);
	return slash && ends_in_id((struct tally_str){path.data, (size_t)(slash - path.data)}, &id)
		       ? NULL
		       : "not in the folder of a build ID";
}

/* Accepts the files of a recording that is a folder: "data", "data.0", "kcore_dir/kcore" and the like. */
static bool is_part_of_folder(struct tally_str name)
{
	static const char *const copies[] = {"kcore_dir/kcore", "kcore_dir/kallsyms", "kcore_dir/modules"};
	for (size_t i = 0; i < ARRAY_LEN(copies); i++)
		if (str_equal(name, str_from(copies[i])))
			return true;
	if (!str_starts_with(name, STR("data")))
		return false;
	for (size_t i = strlen("data"); i < name.len; i++)
		if (!isdigit((unsigned char)name.data[i]) && !(i == strlen("data") && name.data[i] == '.'))
			return false;
	return true;
}

const char *archive_refuses_here(const struct archive_member *member)
{
	struct tally_str path = archive_unpack_path_of(member), rest = path, name;
	if (member->type != ARCHIVE_REGULAR && member->type != ARCHIVE_DIRECTORY)
		return member->type == ARCHIVE_SYMLINK ? "a link" : refuses_type(member);
	if (!is_plain_path(path) || !str_next(&rest, '/', &name))
		return "a path that leads out of this folder";
	if (member->type == ARCHIVE_DIRECTORY)
		return NULL;
	if (name.data[0] == '.')
		return "neither the recording nor " ARCHIVE_SYMBOLS;
	return rest.len == 0 || is_part_of_folder(rest) ? NULL : "neither the recording nor " ARCHIVE_SYMBOLS;
}

static enum tally_status archive_unpack_refuse(
	const char *path, const struct archive_member *member, const char *why, struct tally_error *err)
{
	char shown[SHOWN_NAME];
	size_t i = 0;
	for (; member->name[i] && i < sizeof(shown) - 1; i++)
		shown[i] = isprint((unsigned char)member->name[i]) ? member->name[i] : '?';
	shown[i] = '\0';
	return error_set(err, TALLY_INVALID, "%s is not unpacked: its member '%s' is %s", path, shown, why);
}

typedef enum tally_status take_member(
	void *context, struct archive_members *archive, const struct archive_member *member, struct tally_error *err);

static enum tally_status each_member(const char *path, take_member *take, void *context, struct tally_error *err)
{
	struct archive_members archive;
	struct archive_member *member = malloc(sizeof(*member));
	if (!member)
		return error_nomem(err);
	enum tally_status status = archive_members_open(path, &archive, err);
	if (status != TALLY_OK) {
		free(member);
		return status;
	}
	while ((status = archive_members_next(&archive, member, err)) == TALLY_OK) {
		status = take(context, &archive, member, err);
		if (status != TALLY_OK)
			break;
	}
	bool is_at_end = status == TALLY_END;
	enum tally_status closed = archive_members_close(&archive, is_at_end, path, is_at_end ? err : NULL);
	free(member);
	return is_at_end ? closed : status;
}

struct unpacking {
	const char *path; /* The path of the archive. */
	int root; /* The folder into which the archive is unpacked. */
	int symbols; /* A temporary file for the inner archive; -1 if it has not been created. */
	char recording[NAME_MAX + 1]; /* Name of the recording's file or folder; empty if none has been found. */
	bool has_recording;
};

static enum tally_status cannot_write(const struct archive_member *member, struct tally_error *err)
{
	return error_set_errno(err, TALLY_IO, errno, "cannot write '%s' of the archive", member->name);
}

static enum tally_status copy_contents(
	int fd, struct archive_members *archive, const struct archive_member *member, struct tally_error *err)
{
	char room[65536];
	size_t len;
	enum tally_status status;
	while ((status = archive_members_read(archive, room, sizeof(room), &len, err)) == TALLY_OK && len > 0) {
		status = file_write_all(fd, room, len, err);
		if (status != TALLY_OK)
			return error_prefix(err, "cannot write '%s' of the archive", member->name);
	}
	return status;
}

/* Opens the folder that contains the last part of the path, and creates folders as needed. It follows no symbolic
 * links. name is set to the last part. */
static int open_parent(int root, struct tally_str path, char name[NAME_MAX + 1])
{
	struct tally_str part;
	int fd = dup(root);
	while (fd >= 0 && str_next(&path, '/', &part)) {
		memcpy(name, part.data, part.len); /* The part fits, because is_plain_path has checked its length. */
		name[part.len] = '\0';
		if (path.len == 0)
			break;
		(void)mkdirat(fd, name, 0755);
		int next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		int kept = errno;
		close(fd);
		errno = kept;
		fd = next;
	}
	return fd;
}

/* Writes to a temporary name until the file is complete. link(2) then gives it its name without replacing an
 * existing file. */
static enum tally_status archive_unpack_put_file(int folder, const char *name, mode_t mode,
	struct archive_members *archive, const struct archive_member *member, struct tally_error *err)
{
	char temporary[32];
	snprintf(temporary, sizeof(temporary), ".tally-%d", (int)getpid());
	(void)unlinkat(folder, temporary, 0);
	int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return cannot_write(member, err);
	enum tally_status status = copy_contents(fd, archive, member, err);
	if (close(fd) != 0 && status == TALLY_OK)
		status = cannot_write(member, err);
	if (status == TALLY_OK && linkat(folder, temporary, folder, name, 0) != 0 && errno != EEXIST)
		status = cannot_write(member, err);
	(void)unlinkat(folder, temporary, 0);
	return status;
}

static enum tally_status check_symbols(
	void *context, struct archive_members *archive, const struct archive_member *member, struct tally_error *err)
{
	const struct unpacking *unpacking = context;
	const char *why = archive_refuses(member);
	return why ? archive_unpack_refuse(unpacking->path, member, why, err) : TALLY_OK;
}

static enum tally_status archive_unpack_put_symbols(
	void *context, struct archive_members *archive, const struct archive_member *member, struct tally_error *err)
{
	const struct unpacking *unpacking = context;
	char name[NAME_MAX + 1];
	/* The member is checked again, because the archive may have changed since the first pass. */
	enum tally_status status = check_symbols(context, archive, member, err);
	struct stat about;
	if (status != TALLY_OK || member->type == ARCHIVE_DIRECTORY)
		return status;
	int folder = open_parent(unpacking->root, archive_unpack_path_of(member), name);
	if (folder < 0)
		return cannot_write(member, err);
	if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0)
		status = TALLY_OK; /* An existing file is not replaced. */
	else if (member->type == ARCHIVE_SYMLINK)
		status = symlinkat(member->link, folder, name) == 0 || errno == EEXIST ? TALLY_OK
										       : cannot_write(member, err);
	else
		status = archive_unpack_put_file(folder, name, 0644, archive, member, err);
	close(folder);
	return status;
}

enum tally_status archive_unpack_symbols(const char *path, const char *cache, struct tally_error *err)
{
	struct unpacking unpacking = {.path = path};
	enum tally_status status = each_member(path, check_symbols, &unpacking, err);
	if (status != TALLY_OK)
		return status;
	unpacking.root = open(cache, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (unpacking.root < 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot open %s", cache);
	status = each_member(path, archive_unpack_put_symbols, &unpacking, err);
	close(unpacking.root);
	return status;
}

/* Accepts a member that is neither a folder nor the inner archive if it is the file of a recording or a part of its
 * folder. There must be only one recording, and it must not exist in the current folder. */
static enum tally_status check_recording(struct unpacking *unpacking, struct archive_members *archive,
	const struct archive_member *member, struct tally_error *err)
{
	struct tally_str rest = archive_unpack_path_of(member), first = rest;
	struct stat about;
	if (!str_next(&rest, '/', &first))
		return archive_unpack_refuse(unpacking->path, member, "neither a recording nor " ARCHIVE_SYMBOLS, err);
	if (rest.len == 0 || str_equal(rest, STR("data"))) {
		char magic[sizeof(MAGIC)] = "";
		size_t len;
		enum tally_status status = archive_members_read(archive, magic, strlen(MAGIC), &len, err);
		if (status != TALLY_OK)
			return status;
		if (strcmp(magic, MAGIC) != 0 && strcmp(magic, MAGIC_BACK) != 0)
			return archive_unpack_refuse(
				unpacking->path, member, "neither a recording nor " ARCHIVE_SYMBOLS, err);
		if (unpacking->has_recording)
			return archive_unpack_refuse(unpacking->path, member, "a second recording", err);
		unpacking->has_recording = true;
	}
	if (unpacking->recording[0])
		return str_equal(first, str_from(unpacking->recording))
			       ? TALLY_OK
			       : archive_unpack_refuse(
					 unpacking->path, member, "not of the recording that it has", err);
	/* The part fits, because is_plain_path has checked its length. */
	memcpy(unpacking->recording, first.data, first.len);
	if (fstatat(unpacking->root, unpacking->recording, &about, AT_SYMLINK_NOFOLLOW) == 0)
		return error_set(err, TALLY_INVALID,
			"%s is not unpacked: %s already exists here; move it away, or unpack in another folder",
			unpacking->path, unpacking->recording);
	return TALLY_OK;
}

/* Checks a member, and copies the inner archive to a temporary file, which is then checked and unpacked. */
static enum tally_status check_all(
	void *context, struct archive_members *archive, const struct archive_member *member, struct tally_error *err)
{
	struct unpacking *unpacking = context;
	const char *why = archive_refuses_here(member);
	if (why)
		return archive_unpack_refuse(unpacking->path, member, why, err);
	if (member->type == ARCHIVE_DIRECTORY)
		return TALLY_OK;
	if (str_equal(archive_unpack_path_of(member), STR(ARCHIVE_SYMBOLS))) {
		if (ftruncate(unpacking->symbols, 0) != 0 || lseek(unpacking->symbols, 0, SEEK_SET) != 0)
			return cannot_write(member, err);
		return copy_contents(unpacking->symbols, archive, member, err);
	}
	return check_recording(unpacking, archive, member, err);
}

static enum tally_status put_recording(
	void *context, struct archive_members *archive, const struct archive_member *member, struct tally_error *err)
{
	const struct unpacking *unpacking = context;
	const char *why = archive_refuses_here(member);
	char name[NAME_MAX + 1];
	if (why)
		return archive_unpack_refuse(unpacking->path, member, why, err);
	if (member->type == ARCHIVE_DIRECTORY || str_equal(archive_unpack_path_of(member), STR(ARCHIVE_SYMBOLS)))
		return TALLY_OK;
	int folder = open_parent(unpacking->root, archive_unpack_path_of(member), name);
	if (folder < 0)
		return cannot_write(member, err);
	enum tally_status status = archive_unpack_put_file(folder, name, 0600, archive, member, err);
	close(folder);
	return status;
}

enum tally_status archive_unpack_all(const char *path, const char *cache, struct tally_error *err)
{
	char symbols[] = "/tmp/tally-archive-XXXXXX";
	struct unpacking unpacking = {.path = path, .root = -1, .symbols = mkostemp(symbols, O_CLOEXEC)};
	if (unpacking.symbols < 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot make a file for what is in the archive");
	unpacking.root = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	enum tally_status status = unpacking.root >= 0
					   ? each_member(path, check_all, &unpacking, err)
					   : error_set_errno(err, TALLY_IO, errno, "cannot open this folder");
	if (status == TALLY_OK && unpacking.recording[0] && !unpacking.has_recording)
		status = error_set(err, TALLY_INVALID, "%s is not unpacked: its member '%s' has no data", path,
			unpacking.recording);
	if (status == TALLY_OK && lseek(unpacking.symbols, 0, SEEK_END) == 0)
		status = error_set(err, TALLY_INVALID, "%s has no " ARCHIVE_SYMBOLS, path);
	if (status == TALLY_OK)
		status = archive_unpack_symbols(symbols, cache, err);
	if (status == TALLY_OK)
		status = each_member(path, put_recording, &unpacking, err);
	if (unpacking.root >= 0)
		close(unpacking.root);
	close(unpacking.symbols);
	unlink(symbols);
	return status;
}
