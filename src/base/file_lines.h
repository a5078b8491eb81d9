/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_lines.h - reads the lines of a file one after another. The buffer needs room for one line only, because files in
 * /proc may have any length.
 *
 * Owned by the caller and used by one thread. A line is returned without its line end, and is valid until the next
 * call. The last line needs no line end. Lines longer than LIMIT_STRING are truncated.
 *
 *	struct file_lines lines;
 *	for (bool is_open = file_lines_open(path, &lines, err) == TALLY_OK; is_open && file_lines_next(&lines, &line);) ...
 *	file_lines_close(&lines);
 */
#ifndef BASE_FILE_LINES_H
#define BASE_FILE_LINES_H

#include <stdbool.h>
#include <tally/status.h>

#include "base/bytes.h"

struct file_lines {
	int fd;
	char *buffer;
	/* Range of the bytes in buffer that were read but not returned yet, and its capacity. */
	size_t begin, end, cap;
	bool is_at_end, is_passing; /* is_passing is true while the rest of a line that is too long is being skipped. */
	bool has_failed; /* True if lines are missing because a read failed or memory ran out. */
};

TALLY_MUST_CHECK enum tally_status file_lines_open(const char *path, struct file_lines *lines, struct tally_error *err);
bool file_lines_next(struct file_lines *lines, struct tally_str *line);
/* May be called after a failed file_lines_open. */
void file_lines_close(struct file_lines *lines);

#endif
