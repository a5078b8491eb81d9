/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/kernel_list_cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "code/binaries/index_cache.h"

/* Size of the part of the live list that is compared: the kernel prints this much for one read(2). */
#define HEAD_BYTES    4096
#define LEAST_HEAD    512 /* Minimum size of that part: some ten lines. */
#define DIGEST_FACTOR 31

/* Numbers are in this machine's byte order. The marks and the text follow the header. */
struct kernel_list_cache_header {
	uint64_t magic, mark_count;
	uint64_t kernel_bytes; /* Size of the kernel's part of the text; the modules' lines follow it. */
	uint64_t modules; /* Has the same meaning as in struct kernel_list. */
	uint64_t count, text, stext; /* These have the same meaning as in struct kallsyms_marks. */
};

#define KERNEL_LIST_CACHE_MAGIC UINT64_C(0x314c4b594c4c4154) /* The string "TALLYKL1" as a little-endian number. */

struct mark {
	uint64_t address, offset;
};

/* Returns false unless the marks are in ascending order and lie within the text. */
static bool read_marks(const uint8_t *data, size_t count, size_t text_len, struct kallsyms_marks *marks)
{
	struct mark before = {0, 0};
	if (!vec_reserve(&marks->marks, count))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct mark mark;
		memcpy(&mark, data + i * sizeof(mark), sizeof(mark));
		if (mark.offset >= text_len ||
			(i > 0 && (mark.offset <= before.offset || mark.address <= before.address)))
			return false;
		marks->marks.items[marks->marks.len++] = (struct kallsyms_mark){mark.address, (size_t)mark.offset};
		before = mark;
	}
	return true;
}

bool kernel_list_parse(struct kernel_list *kept)
{
	struct kernel_list_cache_header header;
	struct tally_bytes bytes = kept->map.bytes;
	if (bytes.len < sizeof(header))
		return false;
	memcpy(&header, bytes.data, sizeof(header));
	size_t room = bytes.len - sizeof(header);
	if (header.magic != KERNEL_LIST_CACHE_MAGIC || header.count == 0 || header.mark_count == 0 ||
		header.mark_count > room / sizeof(struct mark))
		return false;
	size_t text_at = sizeof(header) + (size_t)header.mark_count * sizeof(struct mark), len = bytes.len - text_at;
	if (header.kernel_bytes > len || !read_marks(bytes.data + sizeof(header), (size_t)header.mark_count,
						 (size_t)header.kernel_bytes, &kept->marks)) {
		kallsyms_marks_deinit(&kept->marks);
		return false;
	}
	const char *text = (const char *)bytes.data + text_at;
	size_t kernel_len = (size_t)header.kernel_bytes;
	kept->marks.count = header.count;
	kept->marks.text = header.text;
	kept->marks.stext = header.stext;
	kept->modules = header.modules;
	kept->kallsyms = (struct kallsyms){{text, kernel_len}, {text + kernel_len, len - kernel_len}};
	return true;
}

/* Reads the beginning of the live list. Returns its size, or 0 if it cannot be read. */
static size_t read_head(const char *path, char head[HEAD_BYTES])
{
	size_t len = 0;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (file_read_some(fd, head, HEAD_BYTES, &len, NULL) != TALLY_OK)
		len = 0;
	close(fd);
	return len;
}

/* Returns whether all addresses are 0 (kptr_restrict) and at least one line is of code or data. */
static bool kernel_list_cache_is_hidden(struct tally_str lines)
{
	struct kallsyms kallsyms;
	struct kallsyms_marks marks;
	if (!kallsyms_is_hidden(lines.data, lines.len))
		return false;
	kallsyms_open(lines.data, lines.len, &kallsyms);
	bool is_hidden = kallsyms_mark(&kallsyms, &marks) == TALLY_OK && marks.is_hidden;
	kallsyms_marks_deinit(&marks);
	return is_hidden;
}

enum tally_status kernel_list_read(const char *live, char **text, size_t *len, struct tally_error *err)
{
	char head[HEAD_BYTES];
	size_t head_len = read_head(live, head);
	const char *end = memrchr(head, '\n', head_len);
	const struct tally_str lines = {head, end ? (size_t)(end + 1 - head) : 0};
	if (lines.len < LEAST_HEAD || !kernel_list_cache_is_hidden(lines))
		return file_read(live, LIMIT_SMALL_FILE, text, len, err);
	*len = lines.len;
	*text = malloc(lines.len + 1);
	if (!*text)
		return error_nomem(err);
	memcpy(*text, lines.data, lines.len);
	(*text)[lines.len] = '\0';
	return TALLY_OK;
}

/* Hashes name, size and address, but not the users, which change: "ext4 1015808 1 - Live 0xffffffffc0a5e000". */
static uint64_t digest_modules(const char *path)
{
	enum { NAME, SIZE, ADDRESS = 5, FIELDS };
	uint64_t digest = 0;
	char *text;
	size_t len;
	if (file_read(path, LIMIT_SMALL_FILE, &text, &len, NULL) != TALLY_OK)
		return digest; /* The file does not exist if the kernel was built without module support. */
	struct tally_str rest = {text, len}, line, field;
	while (str_next(&rest, '\n', &line))
		for (unsigned i = 0; i < FIELDS && str_next(&line, ' ', &field); i++)
			if (i == NAME || i == SIZE || i == ADDRESS)
				digest = digest * DIGEST_FACTOR + bytes_hash(field.data, field.len);
	free(text);
	return digest;
}

static bool is_live(const struct kernel_list_place *place, const struct kernel_list *kept)
{
	char head[HEAD_BYTES];
	const struct tally_str list = kept->kallsyms.kernel;
	size_t len = read_head(place->live, head);
	return len >= LEAST_HEAD && len <= list.len && memcmp(head, list.data, len) == 0 &&
	       kept->modules == digest_modules(place->modules);
}

bool kernel_list_cache_open(const struct kernel_list_place *place, struct kernel_list *kept)
{
	char dir[PATH_MAX];
	const struct index_key key = {.dir = dir, .id = place->id, .kind = INDEX_KERNEL_LIST};
	*kept = (struct kernel_list){0};
	if (!index_cache_dir(place->index_dir, dir) || !index_cache_path(&key, kept->path) ||
		index_cache_open(&key, &kept->map, NULL) != TALLY_OK)
		return false;
	if (kept->map.bytes.len <= LIMIT_SMALL_FILE && kernel_list_parse(kept)) {
		if (is_live(place, kept))
			return true;
		kallsyms_marks_deinit(&kept->marks);
	}
	file_map_close(&kept->map);
	return false;
}

static enum tally_status kernel_list_cache_put(struct index_file *file, const struct kernel_list *list)
{
	const struct kallsyms_marks *marks = &list->marks;
	size_t count = marks->marks.len, marks_bytes = count * sizeof(struct mark);
	const struct tally_str kernel = list->kallsyms.kernel, modules = list->kallsyms.modules;
	const struct kernel_list_cache_header header = {
		KERNEL_LIST_CACHE_MAGIC, count, kernel.len, list->modules, marks->count, marks->text, marks->stext};
	struct mark *copies = malloc(marks_bytes + 1);
	if (!copies)
		return TALLY_NOMEM;
	for (size_t i = 0; i < count; i++)
		copies[i] = (struct mark){marks->marks.items[i].address, marks->marks.items[i].offset};
	const struct tally_bytes pieces[] = {{(const uint8_t *)&header, sizeof(header)},
		{(const uint8_t *)copies, marks_bytes}, {(const uint8_t *)kernel.data, kernel.len},
		{(const uint8_t *)modules.data, modules.len}};
	enum tally_status status = TALLY_OK;
	for (size_t i = 0, at = 0; i < ARRAY_LEN(pieces) && status == TALLY_OK; at += pieces[i++].len)
		status = index_cache_put(file, at, pieces[i], NULL);
	free(copies);
	return status;
}

void kernel_list_cache_save(
	const struct kernel_list_place *place, const struct kallsyms *kallsyms, const struct kallsyms_marks *marks)
{
	char dir[PATH_MAX];
	struct index_file file;
	const struct index_key key = {.dir = dir, .id = place->id, .kind = INDEX_KERNEL_LIST};
	const struct kernel_list list = {
		.kallsyms = *kallsyms, .marks = *marks, .modules = digest_modules(place->modules)};
	if (!index_cache_dir(place->index_dir, dir) || index_cache_create(&key, &file, NULL) != TALLY_OK)
		return;
	enum tally_status status = kernel_list_cache_put(&file, &list);
	status = index_cache_finish(dir, &file, LIMIT_INDEX_CACHE, status, NULL);
	(void)status;
}
