/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/word_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"

#define FILE_PREFIX STR("file://")

static enum tally_status word_files_add_file(struct text *words, struct tally_str path, struct tally_error *err)
{
	char *name = strndup(path.data, path.len);
	char *data = NULL;
	size_t len = 0;
	if (!name)
		return error_nomem(err);
	enum tally_status status = file_read(name, LIMIT_SMALL_FILE, &data, &len, err);
	free(name);
	if (status != TALLY_OK)
		return status;
	text_bytes(words, data, len);
	text_char(words, '\n');
	free(data);
	return TALLY_OK;
}

static enum tally_status add_words(struct text *words, const char *list, struct tally_error *err)
{
	struct tally_str rest = str_from(list);
	struct tally_str word;
	while (str_next(&rest, ',', &word)) {
		struct tally_str path = {word.data + FILE_PREFIX.len, word.len - FILE_PREFIX.len};
		if (!str_starts_with(word, FILE_PREFIX))
			text_printf(words, "%.*s\n", (int)word.len, word.data);
		else if (word_files_add_file(words, path, err) != TALLY_OK)
			return err->status;
	}
	text_char(words, '\0');
	return words->failed ? error_nomem(err) : TALLY_OK;
}

enum tally_status word_files_read(struct word_files *files, const char **list, struct tally_error *err)
{
	if (!*list || !strstr(*list, FILE_PREFIX.data))
		return TALLY_OK;
	struct text *words = &files->texts[files->count++];
	enum tally_status status = add_words(words, *list, err);
	if (status == TALLY_OK)
		*list = words->data;
	return status;
}

enum tally_status word_files_read_filters(
	struct word_files *files, struct profile_filter_lists *lists, struct tally_error *err)
{
	const char **of[WORD_FILES_LISTS] = {&lists->comms, &lists->dsos, &lists->symbols, &lists->idle_functions};
	for (size_t i = 0; i < WORD_FILES_LISTS; i++) {
		if (word_files_read(files, of[i], err) != TALLY_OK)
			return err->status;
	}
	return TALLY_OK;
}

void word_files_deinit(struct word_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		text_deinit(&files->texts[i]);
}
