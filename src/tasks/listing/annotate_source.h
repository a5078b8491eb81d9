/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_source.h - chooses the source lines to show before an instruction: the lines up to its own that have not
 * been shown, a few at most, as objdump -S chooses them.
 *
 * The caller owns it. Each file is read once, when it is first needed; a file that cannot be read gives no lines.
 *
 *	annotate_source_move(&source, path, line, &first);  // lines first..line are to be shown
 *	const char *text = annotate_source_line(&source, first);
 */
#ifndef TASKS_LISTING_ANNOTATE_SOURCE_H
#define TASKS_LISTING_ANNOTATE_SOURCE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/vec.h"
#include "tasks/listing/source_access.h"

struct annotate_source_file;

struct annotate_source {
	struct arena arena; /* of files and texts: as long as the source */
	const char *prefix; /* before absolute paths; NULL none */
	unsigned strip; /* number of leading path components to remove first */
	VEC(struct annotate_source_file *) files;
	struct annotate_source_file *current;
	struct source_readers readers; /* of the program whose lines are asked for */
	size_t refused; /* number of files that are not shown; the first one, and the reason */
	const char *refused_path, *refused_why;
	uint64_t program_changed_ns; /* of the program whose lines are asked for; 0: not known */
	size_t absent, newer; /* files that are not there; that were modified after the program; and the first ones */
	const char *absent_path, *newer_path;
};

void annotate_source_init(struct annotate_source *source, const char *prefix, unsigned strip);
void annotate_source_deinit(struct annotate_source *source);
/* Sets the program whose debug information names files. Files that its owner cannot read are not shown. */
void annotate_source_of(struct annotate_source *source, const struct binary_store *store, uint32_t id);
/* Reports on standard error which files are not shown, and which may not be those that were compiled, if any. */
void annotate_source_tell(struct annotate_source *source, const char *program);
/* Begins another function, whose lines may be shown again. */
void annotate_source_restart(struct annotate_source *source);
/* False: nothing is shown for this line. */
bool annotate_source_move(struct annotate_source *source, const char *path, uint32_t line, uint32_t *first);
/* A line of the file of the last move, without leading and trailing blanks, and with spaces for tabs; NULL: no such
 * line. */
const char *annotate_source_line(struct annotate_source *source, uint32_t line);
/* One line of any file, as it stands there, borrowed from the source. False: it cannot be read, or has no such line. */
bool annotate_source_find(struct annotate_source *source, const char *path, uint32_t line, struct tally_str *text);

#endif
