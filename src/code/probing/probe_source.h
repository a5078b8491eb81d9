/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_source.h - reads source files: their lines, and those that match a pattern ("SRC;PATTERN").
 *
 * A source is looked for where the debug information says, or below the folder of --source: the whole path in it, or
 * else as many of its last parts as are there.
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
	VEC(uint32_t) items; /* numbers, ascending */
};

/* The path of the file to read; NOT_FOUND: there is none. */
TALLY_MUST_CHECK enum tally_status probe_source_find(
	const char *path, const char *directory, struct text *found, struct tally_error *err);
/* Adds lines that the pattern, which may have wildcards, matches as a whole; blanks count neither in it nor in lines.
 * NOT_FOUND: no such file. */
TALLY_MUST_CHECK enum tally_status probe_source_match(const char *path, const char *directory, struct tally_str pattern,
	struct probe_source_lines *lines, struct tally_error *err);
/* Gives the lines of a source one by one, from 1; take returns false: no more. */
TALLY_MUST_CHECK enum tally_status probe_source_read(const char *path, const char *directory,
	bool (*take)(void *context, uint32_t number, struct tally_str line), void *context, struct tally_error *err);

#endif
