/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/build_ids/archive_members.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupts.h"
#include "base/limits.h"

#define BLOCK_BYTES 512u
#define LONG_NAME   'L' /* A GNU extension: the contents are the name of the next member. */
#define LONG_LINK   'K'
#define PAX_NEXT    'x'
#define PAX_ALL	    'g'

/* The header of IEEE Std 1003.1, ustar interchange format. */
struct tar_header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[6],
		version[2], owner[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct tar_header) == BLOCK_BYTES, "a tar header is one block");

extern char **environ;

static enum tally_status archive_members_damaged(
	const struct archive_members *archive, const char *what, struct tally_error *err)
{
	return error_set_at(err, TALLY_CORRUPT, archive->offset, "the archive is damaged: %s", what);
}

static enum tally_status start_bzip2(int input, struct archive_members *archive, struct tally_error *err)
{
	static const char *const argv[] = {"bzip2", "--decompress", "--stdout", NULL};
	int ends[2];
	posix_spawn_file_actions_t actions;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot make a pipe");
	int failure = posix_spawn_file_actions_init(&actions);
	if (failure == 0) {
		posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
		posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
		failure = posix_spawnp(&archive->pid, "bzip2", &actions, NULL, (char *const *)(uintptr_t)argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	archive->fd = ends[0];
	if (failure == 0)
		return TALLY_OK;
	close(ends[0]);
	return error_set_errno(err, failure == ENOENT ? TALLY_NOT_FOUND : TALLY_IO, failure,
		"cannot run bzip2, which unpacks archives");
}

enum tally_status archive_members_open(const char *path, struct archive_members *archive, struct tally_error *err)
{
	struct stat about;
	int input = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (input < 0)
		return error_set_errno(
			err, errno == ENOENT ? TALLY_NOT_FOUND : TALLY_IO, errno, "cannot open %s", path);
	*archive = (struct archive_members){.fd = -1, .most = LIMIT_ARCHIVE_UNPACKED};
	enum tally_status status = fstat(input, &about) == 0 && S_ISREG(about.st_mode)
					   ? start_bzip2(input, archive, err)
					   : error_set(err, TALLY_INVALID, "%s is not a file", path);
	close(input);
	if (status == TALLY_OK)
		archive->most += (uint64_t)about.st_size * LIMIT_ARCHIVE_RATIO;
	return status;
}

/* Reads len bytes, or less at the end of bzip2's output. */
static enum tally_status read_fully(
	struct archive_members *archive, void *room, size_t len, size_t *got, struct tally_error *err)
{
	size_t done = 0, some = 1;
	if (archive->offset > archive->most)
		return error_set(
			err, TALLY_LIMIT, "the archive unpacks to more than %u times its size", LIMIT_ARCHIVE_RATIO);
	while (done < len && some > 0) {
		enum tally_status status = file_read_some(archive->fd, (char *)room + done, len - done, &some, err);
		if (status != TALLY_OK)
			return status;
		done += some;
	}
	archive->offset += done;
	*got = done;
	return TALLY_OK;
}

enum tally_status archive_members_read(
	struct archive_members *archive, void *room, size_t room_bytes, size_t *len, struct tally_error *err)
{
	size_t wanted = archive->left < room_bytes ? (size_t)archive->left : room_bytes;
	enum tally_status status = read_fully(archive, room, wanted, len, err);
	if (status == TALLY_OK && *len < wanted)
		status = archive_members_damaged(archive, "it ends inside a member", err);
	if (status == TALLY_OK)
		archive->left -= *len;
	return status;
}

static enum tally_status pass_over(struct archive_members *archive, struct tally_error *err)
{
	char room[16384];
	size_t len;
	archive->left += archive->padding;
	archive->padding = 0;
	while (archive->left > 0) {
		enum tally_status status = archive_members_read(archive, room, sizeof(room), &len, err);
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

/* Parses octal digits, or GNU's form for large numbers: a byte 0x80 and a big-endian number. */
static bool archive_members_read_number(const char *field, size_t bytes, uint64_t *value)
{
	uint64_t number = 0;
	size_t i = 0;
	if ((unsigned char)field[0] == 0x80) {
		for (i = 1; i < bytes; i++) {
			if (number >> 55)
				return false;
			number = number << 8 | (unsigned char)field[i];
		}
		*value = number;
		return true;
	}
	while (i < bytes && field[i] == ' ')
		i++;
	for (; i < bytes && field[i] >= '0' && field[i] <= '7'; i++)
		number = number << 3 | (uint64_t)(field[i] - '0');
	*value = number;
	return i == bytes || field[i] == ' ' || field[i] == '\0';
}

static bool has_right_checksum(const struct tar_header *header)
{
	uint64_t wanted, sum = 0;
	const unsigned char *bytes = (const unsigned char *)header;
	size_t begin = offsetof(struct tar_header, checksum), end = begin + sizeof(header->checksum);
	for (size_t i = 0; i < BLOCK_BYTES; i++)
		sum += i >= begin && i < end ? ' ' : bytes[i];
	return archive_members_read_number(header->checksum, sizeof(header->checksum), &wanted) && wanted == sum;
}

static bool archive_members_copy_text(char *to, const char *text, size_t len)
{
	if (len >= PATH_MAX || memchr(text, '\0', len))
		return false;
	memcpy(to, text, len);
	to[len] = '\0';
	return true;
}

static void take_names(const struct tar_header *header, struct archive_member *member)
{
	int prefix = memcmp(header->magic, "ustar", 6) == 0 ? (int)strnlen(header->prefix, sizeof(header->prefix)) : 0;
	if (!member->name[0])
		snprintf(member->name, sizeof(member->name), "%.*s%s%.*s", prefix, header->prefix, prefix ? "/" : "",
			(int)sizeof(header->name), header->name);
	if (!member->link[0])
		snprintf(member->link, sizeof(member->link), "%.*s", (int)sizeof(header->link), header->link);
}

/* Parses the records of a pax header, "LENGTH KEY=VALUE\n". Returns false if they are invalid. */
static bool take_pax(struct tally_str text, struct archive_member *member, uint64_t *size)
{
	while (text.len > 0) {
		struct tally_str rest = text, digits, key;
		uint64_t len;
		if (!str_next(&rest, ' ', &digits) || !str_to_u64(digits, 10, &len) || len > text.len ||
			len < digits.len + 2 || text.data[len - 1] != '\n')
			return false;
		rest = (struct tally_str){text.data + digits.len + 1, (size_t)len - digits.len - 2};
		text = (struct tally_str){text.data + len, text.len - (size_t)len};
		if (!str_next(&rest, '=', &key))
			return false;
		if (str_equal(key, STR("path")) && !archive_members_copy_text(member->name, rest.data, rest.len))
			return false;
		if (str_equal(key, STR("linkpath")) && !archive_members_copy_text(member->link, rest.data, rest.len))
			return false;
		if (str_equal(key, STR("size")) && !str_to_u64(rest, 10, size))
			return false;
		if (str_starts_with(key, STR("GNU.sparse.")))
			return false; /* The contents of a sparse member are not those of the file. */
	}
	return true;
}

/* Reads a member that extends the header of the next one. */
static enum tally_status take_extension(struct archive_members *archive, char type, struct archive_member *member,
	uint64_t *size, struct tally_error *err)
{
	size_t len;
	if (archive->left > LIMIT_ARCHIVE_HEADER)
		return archive_members_damaged(archive, "a name that is too long", err);
	size_t bytes = (size_t)archive->left;
	char *text = malloc(bytes + 1);
	if (!text)
		return error_nomem(err);
	enum tally_status status = archive_members_read(archive, text, bytes, &len, err);
	bool is_good = true;
	if (status == TALLY_OK && type == PAX_NEXT)
		is_good = take_pax((struct tally_str){text, bytes}, member, size);
	else if (status == TALLY_OK && type != PAX_ALL)
		is_good = archive_members_copy_text(
			type == LONG_NAME ? member->name : member->link, text, strnlen(text, bytes));
	free(text);
	if (status == TALLY_OK && !is_good)
		status = archive_members_damaged(archive, "the header of a member is not valid", err);
	return status;
}

/* Returns TALLY_END at a block of zeros or at the end of the archive. */
static enum tally_status archive_members_read_header(
	struct archive_members *archive, struct tar_header *header, struct tally_error *err)
{
	static const struct tar_header zeros;
	size_t len;
	enum tally_status status = pass_over(archive, err);
	if (status == TALLY_OK)
		status = read_fully(archive, header, sizeof(*header), &len, err);
	if (status != TALLY_OK)
		return status;
	if (len == 0)
		return TALLY_END;
	if (len < sizeof(*header))
		return archive_members_damaged(archive, "it ends inside a header", err);
	if (memcmp(header, &zeros, sizeof(zeros)) == 0)
		return TALLY_END;
	if (!has_right_checksum(header) ||
		!archive_members_read_number(header->size, sizeof(header->size), &archive->left))
		return archive_members_damaged(archive, "a block that should be a header is not one", err);
	archive->padding = -archive->left & (BLOCK_BYTES - 1);
	return TALLY_OK;
}

enum tally_status archive_members_next(
	struct archive_members *archive, struct archive_member *member, struct tally_error *err)
{
	struct tar_header header;
	uint64_t size = UINT64_MAX;
	enum tally_status status;
	member->name[0] = member->link[0] = '\0';
	while ((status = archive_members_read_header(archive, &header, err)) == TALLY_OK) {
		if (!header.type || !strchr("LKxg", header.type))
			break;
		status = take_extension(archive, header.type, member, &size, err);
		if (status != TALLY_OK)
			break;
	}
	if (status == TALLY_END) { /* The rest is ignored, but reading it lets bzip2 verify the checksums. */
		char room[16384];
		enum tally_status rest = TALLY_OK;
		for (size_t len = 1; rest == TALLY_OK && len > 0;)
			rest = read_fully(archive, room, sizeof(room), &len, err);
		status = rest == TALLY_OK ? TALLY_END : rest;
	}
	if (status != TALLY_OK)
		return status;
	take_names(&header, member);
	member->type = header.type == '\0' || header.type == '7' ? ARCHIVE_REGULAR : header.type;
	if (member->type != ARCHIVE_REGULAR)
		/* Links and devices have no contents, even if their size is not 0. */
		size = archive->left = archive->padding = 0;
	else if (size != UINT64_MAX) {
		archive->left = size;
		archive->padding = -size & (BLOCK_BYTES - 1);
	}
	member->size = archive->left;
	return TALLY_OK;
}

enum tally_status archive_members_close(
	struct archive_members *archive, bool is_at_end, const char *path, struct tally_error *err)
{
	int status;
	close(archive->fd);
	if (!is_at_end)
		kill(archive->pid, SIGTERM);
	if (wait_for_process(archive->pid, &status, 0) < 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot wait for bzip2");
	if (!is_at_end || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
		return TALLY_OK;
	return error_set(err, TALLY_CORRUPT, "bzip2 cannot unpack %s", path);
}
