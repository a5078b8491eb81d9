/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/listing/annotate_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/visible.h"
#include "cli/cli.h"

#define LINES_BEFORE		   5 /* Number of source lines that are shown before the first line of a function. */
#define ANNOTATE_SOURCE_PATH_BYTES 4096
#define TAB_COLUMNS		   8
#define ANNOTATE_SOURCE_NS	   UINT64_C(1000000000)

struct annotate_source_file {
	const char *path; /* The path in the debug information. */
	/* Owners of the program that refers to the file: the file is shown only if they may read it. */
	struct source_readers readers;
	char *text;
	VEC(struct tally_str) lines;
	uint32_t shown_to, last;
	bool is_doubted; /* It is newer than the program, or shorter than the program says. */
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

static uint64_t changed_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * ANNOTATE_SOURCE_NS + (uint64_t)st->st_mtim.tv_nsec;
}

void annotate_source_of(struct annotate_source *source, const struct binary_store *store, uint32_t id)
{
	struct stat st;
	const char *program = binary_store_info(store, id).used_path;
	source_readers_of(&source->readers, store, id);
	bool has_time = program && stat(program, &st) == 0;
	source->program_changed_ns = has_time ? changed_ns(&st) : 0;
}

static void annotate_source_doubt(
	struct annotate_source *source, enum annotate_source_doubt doubt, const char *path, const char *why)
{
	struct annotate_source_doubts *doubts = &source->doubts[doubt];
	if (doubts->count++ > 0)
		return;
	doubts->path = arena_string(&source->arena, path, strlen(path));
	doubts->why = why;
}

static const struct {
	const char *state; /* In JSON. */
	const char *front, *end; /* The message before and after the path; the reason of a refusal is added. */
} source_doubts[SOURCE_DOUBTS] = {
	[SOURCE_REFUSED] = {"refused", "note: no source of ", ": "},
	[SOURCE_ABSENT] = {"absent", "note: no source of ",
		": the file is not there; --prefix and --prefix-strip say where sources are now"},
	[SOURCE_NEWER] = {"newer", "warning: ",
		" was modified after the program was built: lines may differ from those that were compiled"},
	[SOURCE_SHORTER] = {"shorter", "warning: ",
		" ends before lines that the debug information names, so it is not the file that was compiled"},
};

void annotate_source_tell(struct annotate_source *source, const char *program)
{
	for (size_t i = 0; i < SOURCE_DOUBTS; i++) {
		const struct annotate_source_doubts *d = &source->doubts[i];
		const char *visible = d->count && d->path ? visible_string(&source->arena, d->path) : NULL;
		if (!visible)
			continue;
		cli_sayf("%s: %s%s", program, source_doubts[i].front, visible);
		if (d->count > 1)
			fprintf(stderr, " (and %zu more files)", d->count - 1);
		fprintf(stderr, "%s%s\n", source_doubts[i].end, d->why ? d->why : "");
	}
}

void annotate_source_json(const struct annotate_source *source, struct json *json)
{
	json_array(json, "sources");
	for (size_t i = 0; i < SOURCE_DOUBTS; i++) {
		if (source->doubts[i].count == 0 || !source->doubts[i].path)
			continue;
		json_object(json, NULL);
		json_string(json, "state", str_from(source_doubts[i].state));
		json_u64(json, "files", source->doubts[i].count);
		json_string(json, "first", str_from(source->doubts[i].path));
		json_object_end(json);
	}
	json_array_end(json);
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
	const char *why = NULL;
	if (n < 0 || (size_t)n >= sizeof(path))
		return;
	file->text = source_access_read(path, &source->readers, &len, &why);
	if (!file->text) {
		annotate_source_doubt(source, why ? SOURCE_REFUSED : SOURCE_ABSENT, why ? file->path : path, why);
		return;
	}
	struct stat st;
	if (source->program_changed_ns > 0 && stat(path, &st) == 0 && changed_ns(&st) > source->program_changed_ns) {
		file->is_doubted = true;
		annotate_source_doubt(source, SOURCE_NEWER, path, NULL);
	}
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
	if (line > file->lines.len && !file->is_doubted) {
		file->is_doubted = true;
		annotate_source_doubt(source, SOURCE_SHORTER, path, NULL);
	}
	uint32_t start = line > LINES_BEFORE ? line - LINES_BEFORE : 1;
	if (file->shown_to >= start)
		start = file->shown_to < line ? file->shown_to + 1 : line;
	file->last = line;
	file->shown_to = MAX(line, file->shown_to);
	*first = start;
	return true;
}

/* Expands tabs. As in perf, columns start at the first character of the text. */
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
