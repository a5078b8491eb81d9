/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/file_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define FILE_WORDS 6

void file_table_init(struct file_table *files)
{
	*files = (struct file_table){.ids = {.words = FILE_WORDS}};
}

void file_table_deinit(struct file_table *files)
{
	id_table_deinit(&files->ids);
	free(files->ranks);
}

/* All anonymous inodes (such as rings of perf and io_uring) share one inode, so they are not added. */
bool file_table_add(struct file_table *files, const struct record_mmap *mmap, uint32_t *file)
{
	*file = 0;
	if ((!mmap->inode && !mmap->build_id.size) || str_starts_with(mmap->filename, STR("anon_inode:")))
		return true;
	uint64_t words[FILE_WORDS] = {(uint64_t)mmap->major << 32 | mmap->minor, mmap->inode, mmap->inode_generation};
	memcpy(words + 3, mmap->build_id.bytes, mmap->build_id.size);
	uint32_t id = id_table_add(&files->ids, words, NULL);
	if (id == ID_TABLE_NONE)
		return false;
	*file = id + 1;
	return true;
}

static int compare_files(const void *left, const void *right, void *context)
{
	const struct file_table *files = context;
	const uint64_t *a = id_table_key(&files->ids, *(const uint32_t *)left);
	const uint64_t *b = id_table_key(&files->ids, *(const uint32_t *)right);
	for (size_t i = 0; i < FILE_WORDS; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

bool file_table_finish(struct file_table *files)
{
	size_t count = files->ids.len;
	uint32_t *order = calloc(count + 1, sizeof(*order)), *ranks = calloc(count + 1, sizeof(*ranks));
	if (!order || !ranks) {
		free(order);
		free(ranks);
		return false;
	}
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare_files, files);
	for (uint32_t i = 0; i < count; i++)
		ranks[order[i]] = i + 1;
	free(order);
	free(files->ranks);
	files->ranks = ranks;
	return true;
}

uint32_t file_table_rank(const struct file_table *files, uint32_t file)
{
	return file ? files->ranks[file - 1] : 0;
}
