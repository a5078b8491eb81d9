/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/search_path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/own_home.h"
#include "code/binaries/build_id_cache.h"
#include "code/binaries/debuginfod.h"
#include "code/process_files.h"

#define SEARCH_PATH_DELETED " (deleted)"

bool search_is_recorded(const struct binary_key *key, struct elf_build_id found)
{
	if (key->build_id_size == 0)
		return true;
	/* Recordings may pad short build IDs with zeros. */
	size_t n = MIN(found.size, key->build_id_size);
	if (n == 0 || memcmp(key->build_id, found.bytes, n) != 0)
		return false;
	for (size_t i = n; i < key->build_id_size; i++)
		if (key->build_id[i] != 0)
			return false;
	return true;
}

const char *search_hex(struct arena *arena, const uint8_t *bytes, size_t count)
{
	char *out = arena_alloc(arena, 2 * count + 1, 1);
	for (size_t i = 0; i < count && out; i++) {
		out[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
		out[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
	}
	return out ? out : "";
}

const char *search_build_id_cache(
	struct arena *arena, const struct binary_store_options *options, const struct binary_key *key, const char *file)
{
	char home[PATH_MAX];
	const char *dir = options->build_id_dir;
	if (!dir && own_home(home))
		dir = arena_printf(arena, "%s/.debug", home);
	if (!dir || key->build_id_size < 2)
		return NULL;
	const char *hex = search_hex(arena, key->build_id, key->build_id_size);
	const char *path = arena_printf(arena, "%s/.build-id/%.2s/%s/%s", dir, hex, *hex ? hex + 2 : "", file);
	return path && file_exists(path) ? path : NULL;
}

/* Returns the recorded path without the suffix that the kernel appends to names of deleted files. */
static const char *plain_path(struct binary_entry *entry)
{
	struct tally_str path = entry->key.path;
	if (!str_ends_with(path, STR(SEARCH_PATH_DELETED)))
		return path.data;
	return arena_string(&entry->arena, path.data, path.len - strlen(SEARCH_PATH_DELETED));
}

static void search_path_add(struct binary_places *places, struct binary_place place)
{
	if (places->count < SEARCH_PLACES_MAX && place.path)
		places->items[places->count++] = place;
}

static struct binary_place in_root(
	struct arena *arena, const struct binary_root *root, const char *source, const char *inside)
{
	return (struct binary_place){
		.kind = root->pid > 0 ? PLACE_PROCESS : PLACE_PATH,
		.source = source,
		.path = inside ? arena_printf(arena, "%s%s", root->prefix, inside) : NULL,
		.inside = inside,
		.pid = root->pid,
	};
}

static struct binary_place in_cache(struct arena *arena, const struct binary_store_options *options,
	struct elf_build_id id, const char *source, const char *file)
{
	char home[PATH_MAX];
	const char *dir = options->build_id_dir;
	struct binary_place place = {.kind = PLACE_CACHE, .source = source, .inside = file, .id = id};
	if (!dir && own_home(home))
		dir = arena_printf(arena, "%s/.debug", home);
	if (!dir || id.size < 2)
		return place;
	const char *hex = search_hex(arena, id.bytes, id.size);
	place.path = arena_printf(arena, "%s/.build-id/%.2s/%s/%s", dir, hex, *hex ? hex + 2 : "", file);
	return place;
}

void search_add_cached(struct binary_places *places, struct arena *arena, const struct binary_store_options *options,
	struct elf_build_id id, const char *file)
{
	search_path_add(places, in_cache(arena, options, id, "cache of build ids", file));
}

void search_add_path(struct binary_places *places, struct arena *arena, const struct binary_root *root,
	const char *source, const char *inside)
{
	search_path_add(places, in_root(arena, root, source, inside));
}

void search_vdso(struct binary_entry *entry, const struct binary_store_options *options, struct binary_place *place)
{
	struct elf_build_id id = {.size = entry->key.build_id_size};
	memcpy(id.bytes, entry->key.build_id, id.size);
	*place = in_cache(&entry->arena, options, id, "cache of build ids", "vdso");
}

/* Adds a file that debuginfod fetched earlier, for this or another program. */
static void add_fetched(struct binary_places *places, struct arena *arena, struct elf_build_id id, const char *file)
{
	const char *path = debuginfod_cached(arena, id, file);
	if (path)
		search_path_add(places,
			(struct binary_place){
				.kind = PLACE_PATH, .source = "cache of debuginfod", .path = path, .inside = path});
}

void search_add_fetched(struct binary_places *places, struct arena *arena, struct elf_build_id id)
{
	add_fetched(places, arena, id, "debuginfo");
}

/* Determines the root of the recorded process. Returns false if the process cannot be on this machine. */
static bool root_of_process(
	struct binary_entry *entry, const struct binary_store_options *options, struct binary_root *root)
{
	if (entry->key.pid <= 0 || (options->symfs && *options->symfs) || entry->key.path.data[0] != '/')
		return false;
	root->pid = entry->key.pid;
	root->prefix = arena_printf(&entry->arena, "/proc/%d/root", root->pid);
	return root->prefix != NULL;
}

static void search_path_add_mapped(
	struct binary_entry *entry, const struct process_mapping *mapping, struct binary_places *places)
{
	search_path_add(places, (struct binary_place){.kind = PLACE_PATH,
					.source = "mapping of the process",
					.pid = entry->key.pid,
					.path = mapping->link});
	search_path_add(places, (struct binary_place){.kind = PLACE_PATH,
					.source = "program of the process",
					.pid = entry->key.pid,
					.path = process_exe(&entry->arena, entry->key.pid, entry->key.path.data)});
}

static bool is_cached_from(const struct binary_store_options *options, struct elf_build_id id, const char *path)
{
	struct build_id_cache cache;
	return path && build_id_cache_init(&cache, options->build_id_dir, NULL) == TALLY_OK &&
	       build_id_cache_is_of(&cache, &id, str_from(path));
}

static void add_kept(struct binary_entry *entry, const struct binary_store_options *options, const char *path,
	struct binary_places *places)
{
	int fd = options->kept ? options->kept->find(options->kept->context, &entry->key) : -1;
	if (fd >= 0)
		search_path_add(places, (struct binary_place){.kind = PLACE_KEPT,
						.source = "file held while recording",
						.path = path,
						.pid = entry->key.pid,
						.fd = fd});
}

void search_program(
	struct binary_entry *entry, const struct binary_store_options *options, struct binary_places *places)
{
	const char *path = plain_path(entry);
	struct elf_build_id id = {.size = entry->key.build_id_size};
	memcpy(id.bytes, entry->key.build_id, id.size);
	const struct binary_root own = {.prefix = options->symfs ? options->symfs : ""};
	struct binary_root theirs;
	struct process_mapping mapping;
	places->count = 0;
	add_kept(entry, options, path, places);
	/* Any file can claim a build ID, so a copy that was cached from another path comes after the file at this
	 * path. */
	const struct binary_place cached = in_cache(&entry->arena, options, id, "cache of build ids", "elf");
	bool is_of_path = is_cached_from(options, id, path);
	if (is_of_path)
		search_path_add(places, cached);
	/* Without a build ID, only the process can show which file it mapped; the file at that path here may be another
	 * one. */
	if (id.size == 0 && root_of_process(entry, options, &theirs) &&
		process_maps_find(&entry->arena, theirs.pid, entry->key.path.data, &mapping)) {
		bool is_elsewhere = process_is_elsewhere(theirs.pid);
		if (is_elsewhere && !mapping.is_deleted)
			search_path_add(places, in_root(&entry->arena, &theirs, "root of the process", path));
		if (is_elsewhere || mapping.is_deleted) {
			search_path_add_mapped(entry, &mapping, places); /* The build-ID cache cannot have this file. */
			return;
		}
	}
	search_path_add(places, in_root(&entry->arena, &own, "path", path));
	if (!is_of_path)
		search_path_add(places, cached);
}

void search_process(
	struct binary_entry *entry, const struct binary_store_options *options, struct binary_places *places)
{
	struct binary_root theirs;
	struct process_mapping mapping;
	places->count = 0;
	if (entry->key.build_id_size == 0 || !root_of_process(entry, options, &theirs))
		return;
	search_path_add(places, in_root(&entry->arena, &theirs, "root of the process", plain_path(entry)));
	if (process_maps_find(&entry->arena, theirs.pid, entry->key.path.data, &mapping))
		search_path_add_mapped(entry, &mapping, places);
}

/* Returns the length of the path up to its last slash, without that slash. */
static int folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (int)(slash - path) : 0;
}

static void add_linked(struct binary_entry *entry, const char *path, struct binary_places *places)
{
	struct tally_str name;
	uint32_t crc;
	if (!elf_image_debuglink(entry->image, &name, &crc))
		return;
	struct arena *arena = &entry->arena;
	int folder = folder_length(path), length = (int)name.len;
	const char *inside[] = {
		arena_printf(arena, "%.*s/%.*s", folder, path, length, name.data),
		arena_printf(arena, "%.*s/.debug/%.*s", folder, path, length, name.data),
		arena_printf(arena, "/usr/lib/debug%.*s/%.*s", folder, path, length, name.data),
	};
	for (size_t i = 0; i < ARRAY_LEN(inside); i++) {
		struct binary_place place = in_root(arena, &entry->root, "debug link", inside[i]);
		place.has_crc = true;
		place.crc = crc;
		if (inside[i] && strcmp(inside[i], path) != 0) /* A program may name itself as its debug file. */
			search_path_add(places, place);
	}
}

void search_debug_file(
	struct binary_entry *entry, const struct binary_store_options *options, struct binary_places *places)
{
	struct arena *arena = &entry->arena;
	struct elf_build_id id = elf_image_build_id(entry->image);
	const char *path = plain_path(entry);
	places->count = 0;
	search_path_add(places, in_cache(arena, options, id, "debug file in the cache of build ids", "debug"));
	if (id.size >= 2) {
		const char *hex = search_hex(arena, id.bytes, id.size);
		const char *inside =
			*hex ? arena_printf(arena, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2) : NULL;
		const struct binary_root own = {.prefix = options->symfs ? options->symfs : ""};
		search_path_add(places, in_root(arena, &entry->root, "debug file by build id", inside));
		if (entry->root.pid > 0)
			search_path_add(places, in_root(arena, &own, "debug file by build id", inside));
		add_fetched(places, arena, id, "debuginfo");
	}
	if (path && path[0] == '/') {
		add_linked(entry, path, places);
		/* A file with the right name may belong to another build, so only one with a matching build ID can be
		 * used. */
		if (id.size > 0)
			search_path_add(places, in_root(&entry->arena, &entry->root, "debug file by path",
							arena_printf(&entry->arena, "/usr/lib/debug%s.debug", path)));
		if (id.size > 0 && entry->is_cached)
			search_path_add(places, in_root(&entry->arena, &entry->root, "path", path));
	}
	/* The file at the path is preferred to a copy that was cached from elsewhere, but perhaps only the copy has
	 * symbols. */
	if (id.size > 0 && !entry->is_cached)
		search_path_add(places, in_cache(arena, options, id, "cache of build ids", "elf"));
}

void search_supplement(struct binary_entry *entry, const char *path, const char *name, struct elf_build_id id,
	struct binary_places *places)
{
	struct arena *arena = &entry->arena;
	const char *hex = search_hex(arena, id.bytes, id.size);
	const char *inside = *hex ? arena_printf(arena, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2) : NULL;
	const struct binary_root own = {.prefix = ""};
	size_t prefix = strlen(entry->root.prefix);
	places->count = 0;
	if (*name == '/') {
		search_path_add(places, in_root(arena, &entry->root, "common debug file (dwz)", name));
	} else if (strncmp(path, entry->root.prefix, prefix) == 0) {
		/* The name is relative to the folder of the real file; a path by build ID is only a symbolic link to
		 * it. */
		char *real = entry->root.pid > 0 ? NULL : realpath(path, NULL);
		const char *from = real && strncmp(real, entry->root.prefix, prefix) == 0 ? real : path;
		search_path_add(places,
			in_root(arena, &entry->root, "common debug file (dwz)",
				arena_printf(arena, "%.*s/%s", folder_length(from + prefix), from + prefix, name)));
		free(real);
	}
	search_path_add(places, in_root(arena, &entry->root, "common debug file by build id", inside));
	if (entry->root.pid > 0)
		search_path_add(places, in_root(arena, &own, "common debug file by build id", inside));
}

void search_package(struct binary_entry *entry, const char *path, struct binary_places *places)
{
	struct arena *arena = &entry->arena;
	const char *program = plain_path(entry);
	size_t prefix = strlen(entry->root.prefix);
	places->count = 0;
	if (program && program[0] == '/')
		search_path_add(places,
			in_root(arena, &entry->root, "package of split units", arena_printf(arena, "%s.dwp", program)));
	if (strncmp(path, entry->root.prefix, prefix) != 0 || (program && strcmp(path + prefix, program) == 0))
		return;
	size_t len = strlen(path + prefix);
	bool is_debug = str_ends_with(str_from(path), STR(".debug"));
	search_path_add(places,
		in_root(arena, &entry->root, "package of split units", arena_printf(arena, "%s.dwp", path + prefix)));
	if (is_debug)
		search_path_add(
			places, in_root(arena, &entry->root, "package of split units",
					arena_printf(arena, "%.*s.dwp", (int)(len - strlen(".debug")), path + prefix)));
}
