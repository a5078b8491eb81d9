/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"

#define FIRST_BYTES ((size_t)64 << 10)

enum tally_status file_lines_open(const char *path, struct file_lines *lines, struct tally_error *err)
{
	*lines = (struct file_lines){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), .cap = FIRST_BYTES};
	if (lines->fd < 0)
		return error_set_errno(err, TALLY_IO, errno, "%s", path);
	lines->buffer = malloc(lines->cap);
	return lines->buffer ? TALLY_OK : error_nomem(err);
}

/* Makes room after the buffered bytes. */
static bool make_line_room(struct file_lines *lines)
{
	if (lines->begin > 0) {
		memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
		lines->end -= lines->begin;
		lines->begin = 0;
	}
	if (lines->end < lines->cap)
		return true;
	char *grown = realloc(lines->buffer, lines->cap * 2);
	if (!grown)
		return false;
	lines->buffer = grown;
	lines->cap *= 2;
	return true;
}

static bool read_more_lines(struct file_lines *lines)
{
	size_t len;
	if (lines->is_at_end)
		return false;
	if (!make_line_room(lines) || file_read_some(lines->fd, lines->buffer + lines->end, lines->cap - lines->end,
					      &len, NULL) != TALLY_OK) {
		lines->has_failed = lines->is_at_end = true;
		return false;
	}
	lines->end += len;
	lines->is_at_end = len == 0;
	return len > 0;
}

bool file_lines_next(struct file_lines *lines, struct tally_str *line)
{
	size_t searched = 0;
	for (;;) {
		const char *from = lines->buffer + lines->begin;
		size_t left = lines->end - lines->begin;
		const char *newline = memchr(from + searched, '\n', left - searched);
		bool is_too_long = !newline && left >= LIMIT_STRING;
		searched = left;
		if (!newline && !is_too_long && read_more_lines(lines))
			continue;
		if (!newline && !is_too_long && (left == 0 || lines->is_passing))
			return false;
		size_t len = newline ? (size_t)(newline - from) : left;
		bool was_passing = lines->is_passing;
		lines->begin += len + (newline != NULL);
		lines->is_passing = is_too_long;
		searched = 0;
		if (was_passing)
			continue; /* The beginning of this line was already returned. */
		*line = (struct tally_str){from, len};
		return true;
	}
}

void file_lines_close(struct file_lines *lines)
{
	if (lines->fd >= 0)
		close(lines->fd);
	free(lines->buffer);
	lines->buffer = NULL;
	lines->fd = -1;
}
