#include "code/binaries/load_index.h"

#include "base/limits.h"
#include "code/binaries/index_cache.h"

static bool can_be_indexed(const struct binary_entry *entry)
{
	return entry->key.kind == BINARY_USER && entry->image && elf_image_build_id(entry->image).size > 0;
}

void load_index(const struct binary_store_options *options, struct binary_entry *entry)
{
	char dir[PATH_MAX];
	if (entry->index_is_looked_for)
		return;
	entry->index_is_looked_for = true;
	if (!can_be_indexed(entry) || !index_cache_dir(options->index_dir, dir))
		return;
	const struct elf_build_id id = elf_image_build_id(entry->image);
	if (index_cache_open(dir, &id, &entry->index_map, NULL) != TALLY_OK) {
		entry->index_map = (struct file_map){0};
		return;
	}
	if (!line_index_open(&entry->index, entry->index_map.bytes, &id))
		unload_index(entry);
}

void unload_index(struct binary_entry *entry)
{
	line_index_deinit(&entry->index);
	file_map_close(&entry->index_map);
	entry->index_map = (struct file_map){0};
}

enum tally_status save_index(
	const struct binary_store_options *options, struct binary_entry *entry, struct tally_error *err)
{
	char dir[PATH_MAX];
	if (!entry->lines || !can_be_indexed(entry) || !index_cache_dir(options->index_dir, dir))
		return TALLY_NOT_FOUND;
	const struct line_index_source source = {.info = source_lines_info(entry->lines),
		.path = source_lines_path(entry->lines),
		.id = elf_image_build_id(entry->image),
		.threads = options->threads};
	struct writer bytes = {0};
	enum tally_status status = line_index_build(&source, &entry->index, &bytes, err);
	if (status == TALLY_OK)
		status = index_cache_store(dir, &source.id, writer_view(&bytes), LIMIT_INDEX_CACHE, err);
	writer_deinit(&bytes);
	return status;
}
