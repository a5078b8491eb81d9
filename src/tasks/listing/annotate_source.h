/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_source.h - chooses the source lines to show before an instruction: as in objdump -S, at most a few lines up
 * to the instruction's own that have not been shown yet.
 *
 * The caller owns struct annotate_source. Each file is read once, when it is first needed; an unreadable file has no
 * lines.
 *
 *	annotate_source_move(&source, path, line, &first);  // lines first..line are to be shown
 *	const char *text = annotate_source_line(&source, first);
 */
#ifndef TASKS_LISTING_ANNOTATE_SOURCE_H
#define TASKS_LISTING_ANNOTATE_SOURCE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/json.h"
#include "base/vec.h"
#include "tasks/listing/source_access.h"

struct annotate_source_file;

/* Reasons why a file is not shown, or may differ from the one that was compiled: it may not be shown (source_access.h),
 * it cannot be read, it was changed after the program was built, or it has fewer lines than the debug information
 * says. */
enum annotate_source_doubt { SOURCE_REFUSED, SOURCE_ABSENT, SOURCE_NEWER, SOURCE_SHORTER, SOURCE_DOUBTS };

struct annotate_source_doubts { /* Files with the same doubt. */
	size_t count;
	const char *path, *why; /* The first file, and why it was refused; NULL for other doubts. */
};

struct annotate_source {
	struct arena arena; /* Memory for files and texts, which live as long as the source. */
	const char *prefix; /* Prefix for absolute paths, or NULL. */
	unsigned strip; /* Number of leading path components to remove before the prefix is added. */
	VEC(struct annotate_source_file *) files;
	struct annotate_source_file *current;
	struct source_readers readers; /* Owners of the current program (annotate_source_of). */
	uint64_t program_changed_ns; /* Modification time of the current program, or 0 if unknown. */
	struct annotate_source_doubts doubts[SOURCE_DOUBTS];
};

void annotate_source_init(struct annotate_source *source, const char *prefix, unsigned strip);
void annotate_source_deinit(struct annotate_source *source);
/* Sets the current program, which is the one with the debug information that names the files. Files that its owner
 * cannot read are not shown. */
void annotate_source_of(struct annotate_source *source, const struct binary_store *store, uint32_t id);
/* Reports on standard error which files are not shown, and which may differ from those that were compiled. program is
 * tally's name in messages. */
void annotate_source_tell(struct annotate_source *source, const char *program);
/* Adds these files to the current JSON object as a member "sources", an array with an element for each doubt
 * (docs/schema/annotate.json). */
void annotate_source_json(const struct annotate_source *source, struct json *json);
/* Starts another function, for which lines may be shown again. */
void annotate_source_restart(struct annotate_source *source);
/* Chooses the source lines before an instruction of this source line: *first to line. Returns false if there are none
 * to show. */
bool annotate_source_move(struct annotate_source *source, const char *path, uint32_t line, uint32_t *first);
/* Returns a line of the file of the last move, without leading and trailing blanks, and with tabs expanded. Returns
 * NULL if there is no such line. */
const char *annotate_source_line(struct annotate_source *source, uint32_t line);
/* Finds a line of any file, unmodified and borrowed from the source. Returns false if the file cannot be read or has no
 * such line. */
bool annotate_source_find(struct annotate_source *source, const char *path, uint32_t line, struct tally_str *text);

#endif
