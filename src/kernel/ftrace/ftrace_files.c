/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/ftrace/ftrace_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "kernel/events/tracepoints.h"
#include "kernel/system/kernel_files.h"

enum tally_status ftrace_files_find(
	const struct kernel_seam *kernel, struct ftrace_files *files, struct tally_error *err)
{
	const char *top = tracefs_directory(kernel);
	if (!*top)
		return error_set(err, TALLY_UNSUPPORTED,
			"ftrace needs tracefs, which is not mounted; as root: mount -t tracefs nodev "
			"/sys/kernel/tracing");
	*files = (struct ftrace_files){.kernel = kernel, .top = top};
	return TALLY_OK;
}

static bool ftrace_files_path(const struct ftrace_files *files, const char *path, char room[FTRACE_PATH])
{
	int n = snprintf(room, FTRACE_PATH, "%s%s/%s", files->kernel->root, files->top, path);
	return n > 0 && n < FTRACE_PATH;
}

int ftrace_file_put(const struct ftrace_files *files, const char *path, const char *value, bool is_appended)
{
	char name[FTRACE_PATH];
	size_t len = strlen(value);
	char *line = malloc(len + 2);
	int errnum = line && ftrace_files_path(files, path, name) ? 0 : ENOMEM;
	int fd = errnum ? -1 : open(name, O_WRONLY | O_CLOEXEC | (is_appended ? O_APPEND : O_TRUNC));
	if (!errnum && fd < 0)
		errnum = errno;
	if (fd >= 0) {
		memcpy(line, value, len);
		line[len] = '\n';
		/* The kernel handles each write as one command. Opening the file has already emptied it. */
		if (len > 0 && write(fd, line, len + 1) < 0)
			errnum = errno;
		if (close(fd) != 0 && !errnum)
			errnum = errno;
	}
	free(line);
	return errnum;
}

static bool ftrace_files_ends_with(const char *path, const char *name)
{
	size_t len = strlen(path), tail = strlen(name);
	return len >= tail && strcmp(path + len - tail, name) == 0;
}

static bool ftrace_files_has_functions(const char *path)
{
	return strstr(path, "set_ftrace_filter") || strstr(path, "set_ftrace_notrace") || strstr(path, "set_graph_");
}

/* The meaning of this errno for this file; NULL if there is no special one. */
static const char *ftrace_files_reason(const char *path, int errnum)
{
	bool has_functions = ftrace_files_has_functions(path);
	bool is_tracer = ftrace_files_ends_with(path, "current_tracer");
	if (has_functions && errnum == EINVAL)
		return "the kernel can trace no function of this name; 'ftrace -F PATTERN' lists those that it can";
	if ((has_functions || is_tracer || strstr(path, "set_ftrace_pid")) && errnum == EPERM)
		return "this kernel does not let functions be traced (it is locked down, or runs in a machine that "
		       "does not let it patch its own code)";
	if (is_tracer && errnum == EBUSY)
		return "another tracer uses what this one needs; end it first ('echo nop > current_tracer' in tracefs)";
	if (is_tracer && errnum == EINVAL)
		return "the kernel does not have this tracer here";
	if (errnum == EROFS)
		return "tracefs is mounted read-only here; as root: mount -o remount,rw /sys/kernel/tracing";
	if (errnum == EACCES || errnum == EPERM)
		return "ftrace needs root";
	return NULL;
}

static enum tally_status ftrace_files_status(const char *path, int errnum)
{
	switch (errnum) {
	case EACCES:
	case EPERM:
	case EROFS:
		return TALLY_DENIED;
	case ENOENT:
		return TALLY_UNSUPPORTED;
	case EINVAL:
		return ftrace_files_has_functions(path) ? TALLY_NOT_FOUND : TALLY_INVALID;
	default:
		return TALLY_IO;
	}
}

enum tally_status ftrace_file_write(const struct ftrace_files *files, const char *path, const char *value,
	bool is_appended, struct tally_error *err)
{
	int errnum = ftrace_file_put(files, path, value, is_appended);
	if (errnum == 0)
		return TALLY_OK;
	const char *reason = ftrace_files_reason(path, errnum);
	enum tally_status status = ftrace_files_status(path, errnum);
	if (reason)
		return error_set(err, status, "cannot write '%.200s' to %s/%s: %s", value, files->top, path, reason);
	return error_set_errno(err, status, errnum, "cannot write '%.200s' to %s/%s", value, files->top, path);
}

bool ftrace_file_exists(const struct ftrace_files *files, const char *path)
{
	return kernel_has(files->kernel, "%s/%s", files->top, path);
}

enum tally_status ftrace_file_text(
	const struct ftrace_files *files, const char *path, char **text, struct tally_error *err)
{
	return kernel_text(files->kernel, text, err, "%s/%s", files->top, path);
}

bool ftrace_file_has_word(const struct ftrace_files *files, const char *path, const char *word)
{
	char *text;
	if (ftrace_file_text(files, path, &text, NULL) != TALLY_OK)
		return false;
	struct tally_str rest = str_from(text), part;
	bool is_there = false;
	while (!is_there && str_next(&rest, ' ', &part))
		is_there = str_equal(part, str_from(word));
	free(text);
	return is_there;
}

int ftrace_file_open(const struct ftrace_files *files, const char *path)
{
	char name[FTRACE_PATH];
	if (!ftrace_files_path(files, path, name))
		return errno = ENAMETOOLONG, -1;
	return open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

int ftrace_folder_make(const struct ftrace_files *files, const char *path)
{
	char name[FTRACE_PATH];
	if (!ftrace_files_path(files, path, name))
		return ENAMETOOLONG;
	return mkdir(name, 0750) == 0 ? 0 : errno;
}

int ftrace_folder_remove(const struct ftrace_files *files, const char *path)
{
	char name[FTRACE_PATH];
	if (!ftrace_files_path(files, path, name))
		return ENAMETOOLONG;
	return rmdir(name) == 0 ? 0 : errno;
}
