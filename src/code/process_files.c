/* SPDX-License-Identifier: Apache-2.0 */
#include "code/process_files.h"

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

#include "base/error.h"
#include "base/file.h"
#include "base/file_lines.h"
#include "base/limits.h"

#define PROCESS_FILES_PROC_PATH_BYTES 64
#define PROCESS_FILES_DELETED	      " (deleted)"

static enum tally_status process_files_failed(struct tally_error *err, int32_t pid, const char *path, int errnum)
{
	enum tally_status status = TALLY_IO;
	if (errnum == ENOENT || errnum == ENOTDIR || errnum == ESRCH)
		status = TALLY_NOT_FOUND;
	else if (errnum == EACCES || errnum == EPERM)
		status = TALLY_DENIED;
	else if (errnum == ELOOP || errnum == EXDEV)
		status = TALLY_INVALID;
	else if (errnum == ENOSYS)
		status = TALLY_UNSUPPORTED;
	return error_set_errno(err, status, errnum, "/proc/%d/root%s", (int)pid, path);
}

static enum tally_status process_files_open_with(
	int32_t pid, const char *path, uint64_t flags, int *fd, struct tally_error *err)
{
	char proc[PROCESS_FILES_PROC_PATH_BYTES];
	struct stat st;
	snprintf(proc, sizeof(proc), "/proc/%d/root", (int)pid);
	int root = open(proc, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return process_files_failed(err, pid, path, errno);
	/* O_PATH has no side effects, so that the file can be checked before it is really opened. */
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int place = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	int errnum = errno;
	close(root);
	if (place < 0)
		return process_files_failed(err, pid, path, errnum);
	if (fstat(place, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(place);
		return error_set(err, TALLY_INVALID, "/proc/%d/root%s: not a regular file", (int)pid, path);
	}
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", place);
	int opened = open(proc, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	errnum = errno;
	close(place);
	if (opened < 0)
		return process_files_failed(err, pid, path, errnum);
	*fd = opened;
	return TALLY_OK;
}

enum tally_status process_root_open(int32_t pid, const char *path, int *fd, struct tally_error *err)
{
	return process_files_open_with(pid, path, 0, fd, err);
}

enum tally_status process_root_open_itself(int32_t pid, const char *path, int *fd, struct tally_error *err)
{
	return process_files_open_with(pid, path, O_NOFOLLOW, fd, err);
}

static bool mount_namespace(const char *process, char name[PROCESS_FILES_PROC_PATH_BYTES])
{
	char path[PROCESS_FILES_PROC_PATH_BYTES];
	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", process);
	ssize_t len = readlink(path, name, PROCESS_FILES_PROC_PATH_BYTES - 1);
	if (len <= 0)
		return false;
	name[len] = '\0';
	return true;
}

/* Stores the process's root directory as seen from ours; "" if it is the same or the process has exited. Returns its
 * length. */
static size_t root_prefix(int32_t pid, char prefix[PATH_MAX])
{
	char path[PROCESS_FILES_PROC_PATH_BYTES];
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	ssize_t len = readlink(path, prefix, PATH_MAX - 1);
	len = len <= 1 ? 0 : len;
	prefix[len] = '\0';
	return (size_t)len;
}

bool process_is_elsewhere(int32_t pid)
{
	char number[16], theirs[PROCESS_FILES_PROC_PATH_BYTES], ours[PROCESS_FILES_PROC_PATH_BYTES], prefix[PATH_MAX];
	if (root_prefix(pid, prefix) > 0)
		return true;
	snprintf(number, sizeof(number), "%d", (int)pid);
	return mount_namespace(number, theirs) && mount_namespace("self", ours) && strcmp(theirs, ours) != 0;
}

/* Splits "7f00-7f10 r-xp 00001000 fe:00 1234    /usr/bin/x" into the range and the name after the fifth field. */
static bool split_line(struct tally_str line, struct tally_str *range, struct tally_str *name)
{
	struct tally_str field;
	if (!str_next(&line, ' ', range))
		return false;
	for (unsigned i = 0; i < 4; i++)
		if (!str_next(&line, ' ', &field))
			return false;
	while (line.len > 0 && line.data[0] == ' ') {
		line.data++;
		line.len--;
	}
	*name = line;
	return line.len > 0;
}

/* Compares a name in /proc with the path, which itself may have been recorded with " (deleted)". */
static bool is_path(struct tally_str name, const char *path, bool *is_deleted)
{
	struct tally_str wanted = str_from(path);
	*is_deleted = str_ends_with(name, STR(PROCESS_FILES_DELETED));
	if (str_equal(name, wanted))
		return true;
	if (!*is_deleted)
		return false;
	name.len -= strlen(PROCESS_FILES_DELETED);
	return str_equal(name, wanted);
}

/* Names in map_files have no leading zeros: "00400000-00401000" becomes "400000-401000". */
static bool range_link(struct arena *arena, int32_t pid, struct tally_str range, struct process_mapping *mapping)
{
	struct tally_str start_text;
	uint64_t start, end;
	if (!str_next(&range, '-', &start_text) || !str_to_u64(start_text, 16, &start) || !str_to_u64(range, 16, &end))
		return false;
	mapping->link = arena_printf(
		arena, "/proc/%d/map_files/%llx-%llx", (int)pid, (unsigned long long)start, (unsigned long long)end);
	return mapping->link != NULL;
}

bool process_maps_find(struct arena *arena, int32_t pid, const char *path, struct process_mapping *mapping)
{
	char proc[PROCESS_FILES_PROC_PATH_BYTES], prefix[PATH_MAX];
	struct file_lines lines;
	size_t prefix_len = root_prefix(pid, prefix);
	struct tally_str line, range, name;
	bool found = false;
	snprintf(proc, sizeof(proc), "/proc/%d/maps", (int)pid);
	bool is_open = file_lines_open(proc, &lines, NULL) == TALLY_OK;
	while (is_open && !found && file_lines_next(&lines, &line)) {
		if (!split_line(line, &range, &name))
			continue;
		/* The kernel shows names relative to our root, but the path may be relative to the process's root. */
		struct tally_str own = name;
		if (prefix_len > 0 && str_starts_with(name, (struct tally_str){prefix, prefix_len}))
			own = (struct tally_str){name.data + prefix_len, name.len - prefix_len};
		if (is_path(name, path, &mapping->is_deleted) || is_path(own, path, &mapping->is_deleted))
			found = range_link(arena, pid, range, mapping);
	}
	file_lines_close(&lines);
	return found;
}

const char *process_exe(struct arena *arena, int32_t pid, const char *path)
{
	char proc[PROCESS_FILES_PROC_PATH_BYTES], target[PATH_MAX];
	bool is_deleted;
	snprintf(proc, sizeof(proc), "/proc/%d/exe", (int)pid);
	ssize_t len = readlink(proc, target, sizeof(target));
	if (len <= 0 || !is_path((struct tally_str){target, (size_t)len}, path, &is_deleted))
		return NULL;
	return arena_string(arena, proc, strlen(proc));
}
