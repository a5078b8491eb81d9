/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/listing/annotate_source.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/visible.h"
#include "cli/cli.h"

#define LINES_BEFORE		   5 /* that lead up to a function's first line */
#define ANNOTATE_SOURCE_PATH_BYTES 4096
#define TAB_COLUMNS		   8

struct annotate_source_file {
	const char *path; /* as the debug information has it */
	struct source_readers readers; /* for whom it was opened */
	char *text;
	VEC(struct tally_str) lines;
	uint32_t shown_to, last;
};

void annotate_source_init(struct annotate_source *source, const char *prefix, unsigned strip)
{
	*source = (struct annotate_source){.prefix = prefix, .strip = strip};
	arena_init(&source->arena);
}

void annotate_source_deinit(struct annotate_source *source)
{
	for (size_t i = 0; i < source->files.len; i++) {
		free(source->files.items[i]->text);
		vec_free(&source->files.items[i]->lines);
	}
	vec_free(&source->files);
	arena_deinit(&source->arena);
}

void annotate_source_of(struct annotate_source *source, const struct binary_store *store, uint32_t id)
{
	source_readers_of(&source->readers, store, id);
}

void annotate_source_tell(struct annotate_source *source, const char *program)
{
	const char *path = source->refused ? visible_string(&source->arena, source->refused_path) : NULL;
	if (!path)
		return;
	cli_sayf("%s: note: the source in %s is not shown: %s", program, path, source->refused_why);
	if (source->refused > 1)
		fprintf(stderr, " (and %zu more files)", source->refused - 1);
	fputc('\n', stderr);
}

void annotate_source_restart(struct annotate_source *source)
{
	source->current = NULL;
	for (size_t i = 0; i < source->files.len; i++)
		source->files.items[i]->shown_to = source->files.items[i]->last = 0;
}

static void annotate_source_read_file(struct annotate_source *source, struct annotate_source_file *file)
{
	char path[ANNOTATE_SOURCE_PATH_BYTES];
	size_t len;
	const char *rest = file->path;
	if (source->prefix && rest[0] == '/')
		for (unsigned i = 0; i < source->strip && strchr(rest + 1, '/'); i++)
			rest = strchr(rest + 1, '/');
	int n = snprintf(path, sizeof(path), "%s%s", source->prefix && rest[0] == '/' ? source->prefix : "", rest);
	const char *why;
	if (n < 0 || (size_t)n >= sizeof(path))
		return;
	file->text = source_access_read(path, &source->readers, &len, &why);
	if (!file->text && why && source->refused++ == 0) {
		source->refused_path = file->path;
		source->refused_why = why;
	}
	if (!file->text)
		return;
	struct tally_str left = {file->text, len}, line;
	while (left.len > 0 && str_next(&left, '\n', &line))
		if (!vec_push(&file->lines, line))
			return;
}

static bool is_file(const struct annotate_source_file *file, const struct annotate_source *source, const char *path)
{
	return !strcmp(file->path, path) && !memcmp(&file->readers, &source->readers, sizeof(file->readers));
}

static struct annotate_source_file *annotate_source_open_file(struct annotate_source *source, const char *path)
{
	if (source->current && is_file(source->current, source, path))
		return source->current;
	for (size_t i = 0; i < source->files.len; i++)
		if (is_file(source->files.items[i], source, path))
			return source->current = source->files.items[i];
	struct annotate_source_file *file = arena_new(&source->arena, struct annotate_source_file);
	const char *name = arena_string(&source->arena, path, strlen(path));
	if (!file || !name)
		return NULL;
	file->path = name;
	file->readers = source->readers;
	if (!vec_push(&source->files, file))
		return NULL;
	annotate_source_read_file(source, file);
	return source->current = file;
}

bool annotate_source_move(struct annotate_source *source, const char *path, uint32_t line, uint32_t *first)
{
	struct annotate_source_file *file = annotate_source_open_file(source, path);
	if (!file || file->lines.len == 0 || line == 0 || line == file->last)
		return false;
	uint32_t start = line > LINES_BEFORE ? line - LINES_BEFORE : 1;
	if (file->shown_to >= start)
		start = file->shown_to < line ? file->shown_to + 1 : line;
	file->last = line;
	file->shown_to = MAX(line, file->shown_to);
	*first = start;
	return true;
}

/* Columns count from where the text begins, as perf's. */
static const char *without_tabs(struct arena *arena, struct tally_str text)
{
	size_t columns = 0;
	for (size_t i = 0; i < text.len; i++)
		columns = text.data[i] == '\t' ? (columns / TAB_COLUMNS + 1) * TAB_COLUMNS : columns + 1;
	char *out = arena_alloc(arena, columns + 1, 1);
	size_t at = 0;
	for (size_t i = 0; i < text.len && out; i++)
		do
			out[at++] = text.data[i] == '\t' ? ' ' : text.data[i];
		while (text.data[i] == '\t' && at % TAB_COLUMNS);
	if (out)
		out[at] = '\0';
	return out;
}

const char *annotate_source_line(struct annotate_source *source, uint32_t line)
{
	const struct annotate_source_file *file = source->current;
	if (!file || line == 0 || line > file->lines.len)
		return NULL;
	const char *text = without_tabs(&source->arena, str_trim(file->lines.items[line - 1]));
	return text ? visible_string(&source->arena, text) : NULL;
}

bool annotate_source_find(struct annotate_source *source, const char *path, uint32_t line, struct tally_str *text)
{
	const struct annotate_source_file *file = annotate_source_open_file(source, path);
	if (!file || line == 0 || line > file->lines.len)
		return false;
	*text = file->lines.items[line - 1];
	return true;
}
