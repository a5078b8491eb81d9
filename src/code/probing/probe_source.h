/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_source.h - reads source files: all lines, or those that match a pattern ("SRC;PATTERN").
 *
 * A source file is read from the path in the debug information. If a directory is given (--source; otherwise NULL), it
 * is searched only below that: at the whole path, then at the path without its first directory, and so on.
 *
 *	status = probe_source_match("/src/a.c", NULL, STR("*total*"), &lines, err);
 */
#ifndef CODE_PROBING_PROBE_SOURCE_H
#define CODE_PROBING_PROBE_SOURCE_H

#include <tally/status.h>

#include "base/bytes.h"
#include "base/text.h"
#include "base/vec.h"

struct probe_source_lines {
	VEC(uint32_t) items; /* Line numbers, ascending. */
};

/* Finds the path of the file to read and writes it to found, with a terminating NUL. NOT_FOUND: no regular file there
 * can be read. */
TALLY_MUST_CHECK enum tally_status probe_source_find(
	const char *path, const char *directory, struct text *found, struct tally_error *err);
/* Appends the numbers of the lines that match the pattern from beginning to end. The pattern may have wildcards; blanks
 * are ignored in the pattern and in lines. NOT_FOUND: the file cannot be found or read. */
TALLY_MUST_CHECK enum tally_status probe_source_match(const char *path, const char *directory, struct tally_str pattern,
	struct probe_source_lines *lines, struct tally_error *err);
/* Passes the lines of a source file to take, with numbers from 1. take returns false to stop. */
TALLY_MUST_CHECK enum tally_status probe_source_read(const char *path, const char *directory,
	bool (*take)(void *context, uint32_t number, struct tally_str line), void *context, struct tally_error *err);

#endif
