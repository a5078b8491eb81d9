/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/probing/probe_cache.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "code/probing/probe_text.h"

#define PROBE_CACHE_FILE      "probes"
#define PROBE_CACHE_BYTES_MAX (16u << 20) /* Maximum size of the file, in which a probe takes a few hundred bytes. */

bool probe_cache_line_names(struct tally_str line, struct tally_str *group, struct tally_str *event)
{
	struct tally_str rest = line, head, place;
	if (line.len < 2 || (line.data[0] != 'p' && line.data[0] != 'r') || !str_next(&rest, ':', &head) ||
		!str_next(&rest, ' ', &place) || str_trim(rest).len == 0)
		return false;
	for (size_t i = 1; i < head.len; i++) /* Digits limit the number of instances of a return probe. */
		if (head.data[i] < '0' || head.data[i] > '9')
			return false;
	if (!str_next(&place, '/', group))
		return false;
	*event = place;
	return probe_name_is_valid(*group) && probe_name_is_valid(*event);
}

static bool probe_cache_is_head(struct tally_str line)
{
	return line.len > 1 && (line.data[0] == '#' || line.data[0] == '%');
}

static bool probe_cache_copy(struct arena *arena, struct tally_str from, struct tally_str *to)
{
	*to = (struct tally_str){arena_string(arena, from.data, from.len), from.len};
	return to->data != NULL;
}

static bool probe_cache_append(struct probe_cache *file, bool is_sdt, struct tally_str text, struct tally_str lines)
{
	struct probe_cache_entry entry = {.is_sdt = is_sdt};
	struct tally_str rest, first;
	if (!probe_cache_copy(&file->arena, text, &entry.text) || !probe_cache_copy(&file->arena, lines, &entry.lines))
		return false;
	rest = entry.lines;
	if (!str_next(&rest, '\n', &first) || !probe_cache_line_names(first, &entry.group, &entry.event))
		return true; /* The caller has already checked the lines. */
	return vec_push(&file->entries, entry);
}

/* Reads the lines of an entry up to the next header, and skips lines that are not definitions of the kernel. */
static bool probe_cache_take(struct probe_cache *file, struct tally_str head, struct tally_str *rest)
{
	struct text lines = {0};
	struct tally_str before = *rest, line, group, event;
	while (str_next(rest, '\n', &line) && !probe_cache_is_head(line)) {
		if (probe_cache_line_names(line, &group, &event)) {
			text_bytes(&lines, line.data, line.len);
			text_char(&lines, '\n');
		} else {
			file->damaged += str_trim(line).len > 0;
		}
		before = *rest;
	}
	*rest = before;
	bool ok = !lines.failed;
	struct tally_str name = {head.data + 1, head.len - 1};
	if (ok && lines.len > 0)
		ok = probe_cache_append(file, head.data[0] == '%', name, text_view(&lines));
	else
		file->damaged += lines.len == 0;
	text_deinit(&lines);
	return ok;
}

enum tally_status probe_cache_parse(struct tally_str bytes, struct probe_cache *file, struct tally_error *err)
{
	*file = (struct probe_cache){0};
	arena_init(&file->arena);
	struct tally_str rest = bytes, line;
	while (str_next(&rest, '\n', &line)) {
		if (!probe_cache_is_head(line)) {
			file->damaged += str_trim(line).len > 0;
		} else if (!probe_cache_take(file, line, &rest)) {
			probe_cache_deinit(file);
			return error_nomem(err);
		}
	}
	return TALLY_OK;
}

enum tally_status probe_cache_read(const struct build_id_cache *cache, const struct elf_build_id *id,
	struct probe_cache *file, struct tally_error *err)
{
	int fd = -1;
	char *bytes = NULL;
	size_t len = 0;
	enum tally_status status = build_id_cache_open(cache, id, PROBE_CACHE_FILE, &fd, err);
	if (status == TALLY_NOT_FOUND)
		return probe_cache_parse(STR(""), file, err);
	if (status == TALLY_OK) {
		status = file_read_fd(fd, PROBE_CACHE_BYTES_MAX, &bytes, &len, err);
		close(fd);
	}
	if (status == TALLY_OK)
		status = probe_cache_parse((struct tally_str){bytes, len}, file, err);
	free(bytes);
	return status;
}

void probe_cache_deinit(struct probe_cache *file)
{
	vec_free(&file->entries);
	arena_deinit(&file->arena);
}

enum tally_status probe_cache_put(
	struct probe_cache *file, bool is_sdt, struct tally_str text, struct tally_str lines, struct tally_error *err)
{
	struct tally_str rest = lines, line, group, event;
	bool has_lines = false;
	while (str_next(&rest, '\n', &line)) {
		if (line.len == 0 && rest.len == 0)
			break;
		if (!probe_cache_line_names(line, &group, &event))
			return error_set(
				err, TALLY_INVALID, "'%.*s' is no definition of a probe", (int)line.len, line.data);
		has_lines = true;
	}
	if (!has_lines || text.len == 0 || memchr(text.data, '\n', text.len))
		return error_set(err, TALLY_INVALID, "the probe cache takes one line of text, and its definitions");
	for (size_t i = is_sdt ? 0 : file->entries.len; i-- > 0;)
		if (!file->entries.items[i].is_sdt && str_equal(file->entries.items[i].text, text))
			probe_cache_drop(file, i);
	return probe_cache_append(file, is_sdt, text, lines) ? TALLY_OK : error_nomem(err);
}

void probe_cache_drop(struct probe_cache *file, size_t index)
{
	struct probe_cache_entry *items = file->entries.items;
	memmove(items + index, items + index + 1, (--file->entries.len - index) * sizeof(*items));
}

void probe_cache_drop_notes(struct probe_cache *file)
{
	size_t kept = 0;
	for (size_t i = 0; i < file->entries.len; i++)
		if (!file->entries.items[i].is_sdt)
			file->entries.items[kept++] = file->entries.items[i];
	file->entries.len = kept;
}

enum tally_status probe_cache_write(const struct build_id_cache *cache, struct tally_str name,
	const struct elf_build_id *id, const struct probe_cache *file, struct tally_error *err)
{
	struct text out = {0};
	for (size_t i = 0; i < file->entries.len; i++) {
		const struct probe_cache_entry *entry = &file->entries.items[i];
		text_char(&out, entry->is_sdt ? '%' : '#');
		text_bytes(&out, entry->text.data, entry->text.len);
		text_char(&out, '\n');
		text_bytes(&out, entry->lines.data, entry->lines.len);
		if (!str_ends_with(entry->lines, STR("\n")))
			text_char(&out, '\n');
	}
	struct tally_str bytes = text_view(&out);
	enum tally_status status = out.failed
					   ? error_nomem(err)
					   : build_id_cache_put(cache, name, id, PROBE_CACHE_FILE,
						     (struct tally_bytes){(const uint8_t *)bytes.data, bytes.len}, err);
	text_deinit(&out);
	return status;
}
