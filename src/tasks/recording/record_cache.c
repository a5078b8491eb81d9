/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_cache.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/binaries/build_id_cache.h"
#include "code/binaries/mapped_file.h"
#include "tasks/probing/cached_probes.h"
#include "tasks/session/record_words.h"

/* Adds the file as the process that mapped it sees it: it may be in a container, or deleted by now. */
static enum tally_status record_cache_add_mapped(const struct build_id_cache *cache,
	const struct perfdata_build_id *item, const struct elf_build_id *id, int32_t pid)
{
	const struct mapped_file file = {.pid = pid, .path = item->filename.data, .id = *id};
	int fd = mapped_file_open(&file);
	if (fd < 0)
		return TALLY_NOT_FOUND;
	enum tally_status status = build_id_cache_add_fd(cache, item->filename, id, fd, NULL);
	close(fd);
	return status;
}

static enum tally_status record_cache_add_program(const struct build_id_cache *cache,
	const struct perfdata_build_id *item, const struct elf_build_id *id, const struct record_build_id_file *file)
{
	enum tally_status status = file->fd >= 0 ? build_id_cache_add_fd(cache, item->filename, id, file->fd, NULL)
						 : record_cache_add_mapped(cache, item, id, file->pid);
	return status == TALLY_OK ? cached_probes_add_notes(cache, item->filename, id, NULL) : status;
}

/* Adds a file to the cache. is_made: this recording has already added a file with the same build ID, under another
 * path. */
static void record_cache_add(const struct build_id_cache *cache, const struct perfdata_build_id *item,
	const struct record_build_id_file *file, bool is_made)
{
	struct elf_build_id id = {.size = item->size};
	memcpy(id.bytes, item->bytes, sizeof(id.bytes));
	bool is_kernels = item->filename.len > 0 && item->filename.data[0] == '[';
	/* A file from a trusted owner replaces an entry with the same build ID that was added from another path,
	 * because anybody may have created that file. */
	bool may_replace = !is_kernels && !is_made && file->fd >= 0 && build_id_cache_is_trusted(file->fd) &&
			   !build_id_cache_is_of(cache, &id, item->filename);
	if (build_id_cache_has(cache, &id)) {
		if (!may_replace)
			return;
		(void)!build_id_cache_remove(cache, &id, NULL);
	}
	if (str_equal(item->filename, STR(BUILD_ID_CACHE_KERNEL)))
		(void)!build_id_cache_add_kernel(cache, &id, NULL);
	else if (str_equal(item->filename, STR(BUILD_ID_CACHE_VDSO)) ||
		 str_equal(item->filename, STR(BUILD_ID_CACHE_VDSO32)))
		(void)!build_id_cache_add_vdso(cache, item->filename, &id, NULL);
	else
		(void)!record_cache_add_program(cache, item, &id, file);
}

/* Returns whether an earlier entry with an open file has the same build ID: each path of a file would otherwise replace
 * the entry of the previous path. */
static bool has_before(const struct record_build_ids *ids, size_t index)
{
	const struct perfdata_build_id *item = &ids->items[index];
	for (size_t i = 0; i < index; i++)
		if (ids->files[i].fd >= 0 && ids->items[i].size == item->size &&
			memcmp(ids->items[i].bytes, item->bytes, item->size) == 0)
			return true;
	return false;
}

void record_cache_fill(const char *dir, const struct record_build_ids *ids)
{
	struct build_id_cache cache;
	if (build_id_cache_init(&cache, dir, NULL) != TALLY_OK)
		return;
	for (size_t i = 0; i < ids->known; i++)
		record_cache_add(&cache, &ids->items[i], &ids->files[i], has_before(ids, i));
	/* The oldest entries are removed if the cache exceeds the size limit that the user has set. */
	const char *cap = getenv("TALLY_BUILDID_CACHE_MAX");
	uint64_t bytes;
	size_t removed;
	bool has_unit;
	if (cap && record_size_parse(cap, &bytes, &has_unit))
		(void)!build_id_cache_trim(&cache, bytes, &removed, NULL);
}
