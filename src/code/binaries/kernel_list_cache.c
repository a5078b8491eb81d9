#include "code/binaries/kernel_list_cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "code/binaries/index_cache.h"

#define HEAD_BYTES 4096 /* of the live list: what the kernel prints for one read */
#define LEAST_HEAD 512 /* some ten lines */

/* In this machine's byte order, as the marks behind it; then the text. */
struct header {
	uint64_t magic, mark_count;
	uint64_t count, text, stext; /* as struct kallsyms_marks */
};

#define MAGIC UINT64_C(0x314c4b594c4c4154) /* "TALLYKL1" */

struct mark {
	uint64_t address, offset;
};

/* Marks are in order and lie in the text. */
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

bool kernel_list_parse(struct tally_bytes bytes, struct kallsyms *kallsyms, struct kallsyms_marks *marks)
{
	struct header header;
	*marks = (struct kallsyms_marks){0};
	if (bytes.len < sizeof(header))
		return false;
	memcpy(&header, bytes.data, sizeof(header));
	size_t room = bytes.len - sizeof(header);
	if (header.magic != MAGIC || header.count == 0 || header.mark_count == 0 ||
		header.mark_count > room / sizeof(struct mark))
		return false;
	size_t text_at = sizeof(header) + (size_t)header.mark_count * sizeof(struct mark), len = bytes.len - text_at;
	if (!read_marks(bytes.data + sizeof(header), (size_t)header.mark_count, len, marks)) {
		kallsyms_marks_deinit(marks);
		return false;
	}
	marks->count = header.count;
	marks->text = header.text;
	marks->stext = header.stext;
	*kallsyms = (struct kallsyms){{(const char *)bytes.data + text_at, len}, {"", 0}};
	return true;
}

/* What the live list begins with; 0: it cannot be read. */
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

static bool is_live(const struct kernel_list_place *place, struct tally_str list)
{
	char head[HEAD_BYTES];
	size_t len = read_head(place->live, head);
	return len >= LEAST_HEAD && len <= list.len && memcmp(head, list.data, len) == 0;
}

bool kernel_list_cache_open(const struct kernel_list_place *place, struct kernel_list *kept)
{
	char dir[PATH_MAX];
	const struct index_key key = {dir, place->id, INDEX_KERNEL_LIST};
	*kept = (struct kernel_list){0};
	if (!index_cache_dir(place->index_dir, dir) || !index_cache_path(&key, kept->path) ||
		index_cache_open(&key, &kept->map, NULL) != TALLY_OK)
		return false;
	if (kept->map.bytes.len <= LIMIT_SMALL_FILE &&
		kernel_list_parse(kept->map.bytes, &kept->kallsyms, &kept->marks)) {
		if (is_live(place, kept->kallsyms.kernel))
			return true;
		kallsyms_marks_deinit(&kept->marks);
	}
	file_map_close(&kept->map);
	return false;
}

static enum tally_status put(struct index_file *file, struct tally_str list, const struct kallsyms_marks *marks)
{
	size_t count = marks->marks.len, marks_bytes = count * sizeof(struct mark);
	const struct header header = {MAGIC, count, marks->count, marks->text, marks->stext};
	struct mark *copies = malloc(marks_bytes + 1);
	if (!copies)
		return TALLY_NOMEM;
	for (size_t i = 0; i < count; i++)
		copies[i] = (struct mark){marks->marks.items[i].address, marks->marks.items[i].offset};
	const struct tally_bytes pieces[] = {{(const uint8_t *)&header, sizeof(header)},
		{(const uint8_t *)copies, marks_bytes}, {(const uint8_t *)list.data, list.len}};
	enum tally_status status = TALLY_OK;
	for (size_t i = 0, at = 0; i < sizeof(pieces) / sizeof(pieces[0]) && status == TALLY_OK; at += pieces[i++].len)
		status = index_cache_put(file, at, pieces[i], NULL);
	free(copies);
	return status;
}

void kernel_list_cache_save(
	const struct kernel_list_place *place, struct tally_str list, const struct kallsyms_marks *marks)
{
	char dir[PATH_MAX];
	struct index_file file;
	const struct index_key key = {dir, place->id, INDEX_KERNEL_LIST};
	if (!index_cache_dir(place->index_dir, dir) || index_cache_create(&key, &file, NULL) != TALLY_OK)
		return;
	enum tally_status status = put(&file, list, marks);
	status = index_cache_finish(dir, &file, LIMIT_INDEX_CACHE, status, NULL);
	(void)status;
}
