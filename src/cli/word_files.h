/* SPDX-License-Identifier: Apache-2.0 */
/*
 * word_files.h - expands lists of words that may refer to files of words ("ld,file://names" of -c, -d and -S) to lists
 * with one word per line. The resulting strings live as long as the word_files.
 *
 *	struct word_files files = {0};
 *	if (word_files_read(&files, &settings.comms, err) != TALLY_OK) ...
 *	word_files_deinit(&files);
 */
#ifndef CLI_WORD_FILES_H
#define CLI_WORD_FILES_H

#include "base/text.h"
#include "profile/filter.h"

#define WORD_FILES_LISTS 4

struct word_files {
	struct text texts[WORD_FILES_LISTS]; /* The expanded lists. */
	size_t count; /* Number of used elements of texts. */
};

/* Replaces *list by the expanded list, unless it refers to no file or is NULL. At most WORD_FILES_LISTS lists can be
 * expanded. err may not be NULL. */
TALLY_MUST_CHECK enum tally_status word_files_read(
	struct word_files *files, const char **list, struct tally_error *err);
/* Expands the lists of thread names, DSOs, symbols and idle functions. err may not be NULL. */
TALLY_MUST_CHECK enum tally_status word_files_read_filters(
	struct word_files *files, struct profile_filter_lists *lists, struct tally_error *err);
void word_files_deinit(struct word_files *files);

#endif
