/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/probe_source.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file_lines.h"

#define SOURCE_LINES_MAX UINT32_C(0x7fffffff)

static bool probe_source_try(struct text *found, const char *directory, const char *path)
{
	text_clear(found);
	text_printf(found, "%s%s%s", directory, directory[0] ? "/" : "", path);
	text_char(found, 0);
	struct stat info;
	errno = 0;
	/* A device or a FIFO is not a source file. */
	return !found->failed && stat(found->data, &info) == 0 && S_ISREG(info.st_mode) &&
	       access(found->data, R_OK) == 0;
}

enum tally_status probe_source_find(
	const char *path, const char *directory, struct text *found, struct tally_error *err)
{
	const char *part = path;
	int first_errno = 0;
	if (!directory && probe_source_try(found, "", path))
		return TALLY_OK;
	first_errno = errno;
	while (directory && part) {
		part += strspn(part, "/");
		if (probe_source_try(found, directory, part))
			return TALLY_OK;
		first_errno = errno;
		part = strchr(part, '/');
	}
	if (found->failed)
		return error_nomem(err);
	if (directory)
		return error_set(err, TALLY_NOT_FOUND, "cannot find the source file %s below %s", path, directory);
	return error_set_errno(err, TALLY_NOT_FOUND, first_errno ? first_errno : ENOENT,
		"cannot read the source file %s (--source names the folder that it is in now)", path);
}

enum tally_status probe_source_read(const char *path, const char *directory,
	bool (*take)(void *context, uint32_t number, struct tally_str line), void *context, struct tally_error *err)
{
	struct text found = {0};
	struct file_lines lines = {.fd = -1};
	enum tally_status status = probe_source_find(path, directory, &found, err);
	if (status == TALLY_OK)
		status = file_lines_open(found.data, &lines, err);
	struct tally_str line;
	uint32_t number = 0;
	while (status == TALLY_OK && number < SOURCE_LINES_MAX && file_lines_next(&lines, &line))
		if (!take(context, ++number, line))
			break;
	if (status == TALLY_OK && lines.has_failed)
		status = error_set(err, TALLY_IO, "cannot read all of the source file %s", path);
	file_lines_close(&lines);
	text_deinit(&found);
	return status;
}

struct probe_source_matcher {
	struct text pattern, line; /* Without blanks. */
	struct probe_source_lines *lines;
	bool out_of_memory;
};

static void probe_source_without_blanks(struct text *text, struct tally_str from)
{
	text_clear(text);
	for (size_t i = 0; i < from.len; i++)
		if (!strchr(" \t\r\n\v\f", from.data[i]) || from.data[i] == 0)
			text_char(text, from.data[i]);
}

static bool probe_source_take(void *context, uint32_t number, struct tally_str line)
{
	struct probe_source_matcher *m = context;
	probe_source_without_blanks(&m->line, line);
	if (str_glob(text_view(&m->pattern), text_view(&m->line)))
		m->out_of_memory |= !vec_push(&m->lines->items, number);
	m->out_of_memory |= m->line.failed;
	return !m->out_of_memory;
}

enum tally_status probe_source_match(const char *path, const char *directory, struct tally_str pattern,
	struct probe_source_lines *lines, struct tally_error *err)
{
	struct probe_source_matcher m = {.lines = lines};
	probe_source_without_blanks(&m.pattern, pattern);
	m.out_of_memory = m.pattern.failed;
	enum tally_status status = probe_source_read(path, directory, probe_source_take, &m, err);
	text_deinit(&m.pattern);
	text_deinit(&m.line);
	return status == TALLY_OK && m.out_of_memory ? error_nomem(err) : status;
}
