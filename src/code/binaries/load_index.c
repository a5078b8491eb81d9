/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/load_index.h"

#include <string.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "base/limits.h"
#include "code/binaries/index_cache.h"

static bool can_be_indexed(const struct binary_entry *entry)
{
	return entry->key.kind == BINARY_USER && entry->image && elf_image_build_id(entry->image).size > 0;
}

static struct index_key lines_key(const char *dir, const struct elf_build_id *id, const struct elf_origin *program)
{
	const struct tally_bytes words = {(const uint8_t *)program, sizeof(*program)};
	return (struct index_key){dir, id, INDEX_LINES, checksum_crc32(words)};
}

/* Returns the identity of the file that is at the path now; all 0 if there is none. */
static struct elf_origin file_origin(const char *path)
{
	struct stat st;
	if (!path || stat(path, &st) != 0)
		return (struct elf_origin){0};
	return (struct elf_origin){.device = st.st_dev,
		.inode = st.st_ino,
		.bytes = (uint64_t)st.st_size,
		.mtime_ns = (uint64_t)st.st_mtim.tv_sec * UINT64_C(1000000000) + (uint64_t)st.st_mtim.tv_nsec};
}

static bool is_same_origin(const struct elf_origin *a, const struct elf_origin *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Compares the files themselves, because any file may carry another's build ID. If the file with the debug information
 * was removed, only the program is compared. */
static bool is_made_from(const struct line_index *index, const struct elf_origin *program)
{
	const struct elf_origin file = file_origin(index->source);
	return is_same_origin(&index->program, program) && (file.inode == 0 || is_same_origin(&index->file, &file));
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
	const struct elf_origin program = elf_image_origin(entry->image);
	const struct index_key key = lines_key(dir, &id, &program);
	if (index_cache_open(&key, &entry->index_map, NULL) != TALLY_OK) {
		entry->index_map = (struct file_map){0};
		return;
	}
	if (!line_index_open(&entry->index, entry->index_map.bytes, &id) || !is_made_from(&entry->index, &program))
		unload_index(entry);
}

void unload_index(struct binary_entry *entry)
{
	line_index_deinit(&entry->index);
	file_map_close(&entry->index_map);
	entry->index_map = (struct file_map){0};
}

struct load_index_output {
	struct index_key key;
	struct index_file *file;
	bool is_open;
};

/* Creates the file at the first write, because there may be nothing to write. */
static enum tally_status load_index_put(
	void *context, uint64_t offset, struct tally_bytes bytes, struct tally_error *err)
{
	struct load_index_output *output = context;
	if (!output->is_open) {
		enum tally_status status = index_cache_create(&output->key, output->file, err);
		if (status != TALLY_OK)
			return status;
		output->is_open = true;
	}
	return index_cache_put(output->file, offset, bytes, err);
}

enum tally_status save_index(
	const struct binary_store_options *options, struct binary_entry *entry, struct tally_error *err)
{
	char dir[PATH_MAX];
	/* Without dwz's common file the lines are incomplete, and a later run would use their index as if it were
	 * complete. */
	if (!entry->lines || entry->lacks[BINARY_LACKS_SUPPLEMENT].what || !can_be_indexed(entry) ||
		!index_cache_dir(options->index_dir, dir))
		return TALLY_NOT_FOUND;
	const struct line_index_source source = {.info = source_lines_info(entry->lines),
		.path = source_lines_path(entry->lines),
		.id = elf_image_build_id(entry->image),
		.program = elf_image_origin(entry->image),
		.file = file_origin(source_lines_path(entry->lines)),
		.threads = options->threads};
	struct index_file file;
	struct load_index_output output = {.key = lines_key(dir, &source.id, &source.program), .file = &file};
	const struct line_index_sink sink = {load_index_put, &output};
	enum tally_status status = line_index_build(&source, &entry->index, &sink, err);
	return output.is_open ? index_cache_finish(dir, &file, LIMIT_INDEX_CACHE, status, err) : status;
}
