/* SPDX-License-Identifier: Apache-2.0 */
#include "code/symbols/source_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/map_u64.h"
#include "code/process_files.h"
#include "object/dwarf/debug_info.h"
#include "object/dwarf/dwarf_entry.h"

#define PATH_BYTES 4096

struct source_lines {
	struct source_lines_files files;
	struct debug_info *info;
	struct dwarf_reader reader;
	struct arena arena;
	struct map_u64 names; /* Maps unit and entry to the name, as a pointer. */
	struct map_u64 paths; /* Maps unit and file to the path, as a pointer. */
};

/* Opens the file at a path that begins with the root. */
static struct elf_image *source_lines_open_in_root(const struct source_lines_files *files, const char *path)
{
	struct elf_image *image;
	size_t prefix = strlen(files->root);
	int fd;
	if (files->root_pid <= 0 || strncmp(path, files->root, prefix) != 0)
		return elf_image_open(path, &image, NULL) == TALLY_OK ? image : NULL;
	if (process_root_open(files->root_pid, path + prefix, &fd, NULL) != TALLY_OK)
		return NULL;
	enum tally_status status = elf_image_open_fd(fd, path, &image, NULL);
	close(fd);
	return status == TALLY_OK ? image : NULL;
}

/* Builds the path of a .dwo file, including the root, for one of the places where it may be: 0, where the compiler
 * wrote it; 1, at the same relative path below the program's folder; 2, in the program's folder. Returns false if there
 * is no such place. */
static bool split_path(const struct source_lines_files *files, struct tally_str directory, struct tally_str name,
	unsigned place, char path[PATH_BYTES])
{
	bool is_absolute = name.len > 0 && name.data[0] == '/';
	const char *slash = strrchr(files->path, '/'), *last = name.len ? memrchr(name.data, '/', name.len) : NULL;
	int folder = slash ? (int)(slash + 1 - files->path) : 0;
	int n = -1;
	if (name.len == 0)
		return false;
	if (place == 0 && is_absolute)
		n = snprintf(path, PATH_BYTES, "%s%.*s", files->root, (int)name.len, name.data);
	else if (place == 0)
		n = snprintf(path, PATH_BYTES, "%s%.*s/%.*s", files->root, (int)directory.len, directory.data,
			(int)name.len, name.data);
	else if (place == 1 && !is_absolute)
		n = snprintf(path, PATH_BYTES, "%.*s%.*s", folder, files->path, (int)name.len, name.data);
	else if (place == 2 && last)
		n = snprintf(path, PATH_BYTES, "%.*s%.*s", folder, files->path, (int)(name.data + name.len - last - 1),
			last + 1);
	return n > 0 && n < PATH_BYTES;
}

static struct elf_image *source_lines_open_split(
	void *context, struct tally_str directory, struct tally_str name, unsigned place)
{
	const struct source_lines *lines = context;
	char path[PATH_BYTES];
	return split_path(&lines->files, directory, name, place, path) ? source_lines_open_in_root(&lines->files, path)
								       : NULL;
}

enum tally_status source_lines_open(
	const struct source_lines_files *files, struct source_lines **out, struct tally_error *err)
{
	struct source_lines *lines = calloc(1, sizeof(*lines));
	if (!lines) {
		elf_image_close(files->owned);
		elf_image_close(files->supplement);
		elf_image_close(files->package);
		return error_nomem(err);
	}
	lines->files = *files;
	arena_init(&lines->arena);
	dwarf_reader_init(&lines->reader);
	const struct debug_info_options options = {.supplement = files->supplement,
		.package = files->package,
		.open_split = source_lines_open_split,
		.context = lines};
	enum tally_status status = debug_info_open(files->image, &options, &lines->info, err);
	if (status != TALLY_OK) {
		source_lines_close(lines);
		return status;
	}
	*out = lines;
	return TALLY_OK;
}

void source_lines_close(struct source_lines *lines)
{
	if (!lines)
		return;
	debug_info_close(lines->info);
	elf_image_close(lines->files.owned);
	elf_image_close(lines->files.supplement);
	elf_image_close(lines->files.package);
	dwarf_reader_deinit(&lines->reader);
	arena_deinit(&lines->arena);
	map_u64_deinit(&lines->names);
	map_u64_deinit(&lines->paths);
	free(lines);
}

enum tally_status source_lines_load(
	struct source_lines *lines, const uint64_t *addresses, size_t count, unsigned threads, struct tally_error *err)
{
	return debug_info_load(lines->info, addresses, count, threads, err);
}

enum tally_status source_lines_load_all(struct source_lines *lines, unsigned threads, struct tally_error *err)
{
	size_t count;
	const struct debug_unit_range *ranges = debug_info_ranges(lines->info, &count);
	VEC(uint64_t) addresses = {0};
	if (!vec_reserve(&addresses, count))
		return error_nomem(err);
	for (size_t i = 0; i < count; i++)
		addresses.items[addresses.len++] = ranges[i].low;
	enum tally_status status = debug_info_load(lines->info, addresses.items, addresses.len, threads, err);
	vec_free(&addresses);
	return status;
}

/* Returns the name of the function at the place, or NULL. If memory runs out, only the name is missing. */
static const char *source_lines_name_of(struct source_lines *lines, const struct debug_place *place)
{
	bool is_new;
	if (place->function == 0)
		return NULL;
	/* Sections of debug information are much smaller than 2^40 bytes. */
	uint64_t *slot = map_u64_at(&lines->names, place->function | (uint64_t)place->unit << 40, &is_new);
	if (slot && is_new) {
		struct tally_str name = debug_info_name(lines->info, &lines->reader, place);
		*slot = (uint64_t)(uintptr_t)(name.len ? arena_string(&lines->arena, name.data, name.len) : NULL);
	}
	return slot ? (const char *)(uintptr_t)*slot : NULL;
}

static const char *source_lines_path_of(struct source_lines *lines, const struct debug_place *place)
{
	bool is_new;
	uint64_t *slot = map_u64_at(&lines->paths, (uint64_t)place->unit << 32 | place->file, &is_new);
	if (slot && is_new)
		*slot = (uint64_t)(uintptr_t)debug_info_path(lines->info, place, &lines->arena);
	return slot ? (const char *)(uintptr_t)*slot : NULL;
}

size_t source_lines_find(struct source_lines *lines, uint64_t address, struct source_place *places, size_t max)
{
	struct debug_place found[LIMIT_INLINE_DEPTH];
	size_t count = debug_info_find(lines->info, address, found, MIN(max, LIMIT_INLINE_DEPTH));
	for (size_t i = 0; i < count; i++)
		places[i] = (struct source_place){.function = source_lines_name_of(lines, &found[i]),
			.path = source_lines_path_of(lines, &found[i]),
			.line = found[i].line,
			.discriminator = found[i].discriminator,
			.is_inlined = found[i].is_inlined};
	return count;
}

const char *source_lines_missing_split(const struct source_lines *lines, struct arena *arena)
{
	const struct debug_missing_splits missing = debug_info_missing_splits(lines->info);
	char path[PATH_BYTES];
	if (missing.units == 0 || !split_path(&lines->files, missing.directory, missing.name, 0, path))
		return NULL;
	return arena_printf(arena, "%s", path);
}

uint64_t source_lines_damaged(const struct source_lines *lines)
{
	return debug_info_damaged(lines->info);
}

const char *source_lines_path(const struct source_lines *lines)
{
	return lines->files.path;
}

struct debug_info *source_lines_info(const struct source_lines *lines)
{
	return lines->info;
}

const struct elf_image *source_lines_image(const struct source_lines *lines)
{
	return lines->files.image;
}
