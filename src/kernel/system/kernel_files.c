/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/kernel_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/order.h"

TALLY_PRINTF(4, 0)
static bool path_make(const struct kernel_seam *kernel, char *path, size_t size, const char *format, va_list args)
{
	int n = snprintf(path, size, "%s", kernel->root);
	if (n < 0 || (size_t)n >= size)
		return false;
	int m = vsnprintf(path + n, size - (size_t)n, format, args);
	return m >= 0 && (size_t)m < size - (size_t)n;
}

static enum tally_status status_of_errno(int errnum)
{
	switch (errnum) {
	case ENOENT:
	case ENOTDIR:
	case ESRCH:
		return TALLY_NOT_FOUND;
	case EACCES:
	case EPERM:
		return TALLY_DENIED;
	case ENOMEM:
		return TALLY_NOMEM;
	default:
		return TALLY_IO;
	}
}

enum tally_status kernel_text(
	const struct kernel_seam *kernel, char **text, struct tally_error *err, const char *path_format, ...)
{
	char path[4096];
	va_list args;
	va_start(args, path_format);
	bool fits = path_make(kernel, path, sizeof(path), path_format, args);
	va_end(args);
	if (!fits)
		return error_set(err, TALLY_LIMIT, "path too long");
	char *data;
	size_t len;
	struct tally_error file_err = {0};
	enum tally_status status = file_read(path, LIMIT_SMALL_FILE, &data, &len, &file_err);
	if (status != TALLY_OK) {
		if (err)
			*err = file_err;
		if (status == TALLY_IO || status == TALLY_NOT_FOUND || status == TALLY_DENIED) {
			status = status_of_errno(file_err.errnum);
			if (err)
				err->status = status;
		}
		return status;
	}
	while (len > 0 && (data[len - 1] == '\n' || data[len - 1] == ' '))
		data[--len] = '\0';
	*text = data;
	return TALLY_OK;
}

void name_list_deinit(struct name_list *names)
{
	for (size_t i = 0; i < names->len; i++)
		free(names->items[i]);
	vec_free(names);
}

static bool names_add(struct name_list *names, const char *name)
{
	char *copy = strdup(name);
	if (copy && vec_push(names, copy))
		return true;
	free(copy);
	return false;
}

enum tally_status kernel_names(const struct kernel_seam *kernel, struct name_list *names, struct tally_error *err,
	const char *path_format, ...)
{
	char path[4096];
	va_list args;
	va_start(args, path_format);
	bool fits = path_make(kernel, path, sizeof(path), path_format, args);
	va_end(args);
	if (!fits)
		return error_set(err, TALLY_LIMIT, "path too long");
	DIR *dir = opendir(path);
	if (!dir)
		return error_set_errno(err, status_of_errno(errno), errno, "cannot list %s", path);
	struct name_list found = {0};
	enum tally_status status = TALLY_OK;
	struct dirent *entry;
	while (status == TALLY_OK && (entry = file_next_entry(dir)))
		if (entry->d_name[0] != '.' && !names_add(&found, entry->d_name))
			status = error_nomem(err);
	if (status == TALLY_OK && errno != 0)
		status = error_set_errno(err, status_of_errno(errno), errno, "cannot list %s", path);
	closedir(dir);
	if (status != TALLY_OK) {
		name_list_deinit(&found);
		return status;
	}
	if (found.len > 1)
		qsort(found.items, found.len, sizeof(*found.items), order_strings);
	*names = found;
	return TALLY_OK;
}

bool kernel_has(const struct kernel_seam *kernel, const char *path_format, ...)
{
	char path[4096];
	va_list args;
	va_start(args, path_format);
	bool fits = path_make(kernel, path, sizeof(path), path_format, args);
	va_end(args);
	return fits && access(path, F_OK) == 0;
}

bool kernel_is_empty(const struct kernel_seam *kernel, const char *path_format, ...)
{
	char path[4096], byte;
	va_list args;
	va_start(args, path_format);
	bool fits = path_make(kernel, path, sizeof(path), path_format, args);
	va_end(args);
	int fd = fits ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	if (fd < 0)
		return false;
	ssize_t n = read(fd, &byte, 1);
	close(fd);
	return n == 0;
}

int64_t kernel_number(const struct kernel_seam *kernel, int64_t fallback, const char *path_format, ...)
{
	char path[4096];
	va_list args;
	va_start(args, path_format);
	bool fits = path_make(kernel, path, sizeof(path), path_format, args);
	va_end(args);
	char *data;
	size_t len;
	if (!fits || file_read(path, 4096, &data, &len, NULL) != TALLY_OK)
		return fallback;
	char *end;
	errno = 0;
	long long value = strtoll(data, &end, 0);
	bool ok = end != data && errno == 0;
	free(data);
	return ok ? value : fallback;
}
