#include "code/binaries/search_path.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/file.h"

bool search_is_recorded(const struct binary_key *key, struct elf_build_id found)
{
	if (key->build_id_size == 0)
		return true;
	/* Recordings pad short ids with zeros. */
	size_t n = found.size < key->build_id_size ? found.size : key->build_id_size;
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

static const char *if_there(const char *path)
{
	return path && file_exists(path) ? path : NULL;
}

const char *search_build_id_cache(
	struct arena *arena, const struct binary_store_options *options, const struct binary_key *key, const char *file)
{
	const char *home = getenv("HOME");
	const char *dir = options->build_id_dir;
	if (!dir && home)
		dir = arena_printf(arena, "%s/.debug", home);
	if (!dir || key->build_id_size < 2)
		return NULL;
	const char *hex = search_hex(arena, key->build_id, key->build_id_size);
	return if_there(arena_printf(arena, "%s/.build-id/%.2s/%s/%s", dir, hex, *hex ? hex + 2 : "", file));
}

const char *search_system_debug(struct arena *arena, const struct binary_store_options *options, struct elf_build_id id)
{
	if (id.size < 2)
		return NULL;
	const char *hex = search_hex(arena, id.bytes, id.size);
	return if_there(arena_printf(arena, "%s/usr/lib/debug/.build-id/%.2s/%s.debug",
		options->symfs ? options->symfs : "", hex, *hex ? hex + 2 : ""));
}

static bool crc_matches(const char *path, uint32_t wanted)
{
	struct file_map map;
	if (file_map_open(path, &map, NULL) != TALLY_OK)
		return false;
	uLong crc = crc32_z(0, map.bytes.data, map.bytes.len);
	file_map_close(&map);
	return crc == wanted;
}

static const char *by_debuglink(
	struct arena *arena, const char *used_path, const char *symfs, const struct elf_image *image)
{
	struct tally_str name;
	uint32_t crc;
	const char *slash = strrchr(used_path, '/');
	if (!slash || !elf_image_debuglink(image, &name, &crc))
		return NULL;
	int dir_len = (int)(slash - used_path);
	int name_len = (int)name.len;
	const char *root = symfs ? symfs : "";
	size_t root_len = strlen(root);
	const char *inside = strncmp(used_path, root, root_len) == 0 ? used_path + root_len : used_path;
	int inside_len = dir_len - (int)(inside - used_path);
	const char *candidates[] = {
		arena_printf(arena, "%.*s/%.*s", dir_len, used_path, name_len, name.data),
		arena_printf(arena, "%.*s/.debug/%.*s", dir_len, used_path, name_len, name.data),
		arena_printf(arena, "%s/usr/lib/debug%.*s/%.*s", root, inside_len > 0 ? inside_len : 0, inside,
			name_len, name.data),
	};
	for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++)
		if (candidates[i] && strcmp(candidates[i], used_path) != 0 && file_exists(candidates[i]) &&
			crc_matches(candidates[i], crc))
			return candidates[i];
	return NULL;
}

const char *search_debug_file(struct arena *arena, const struct binary_store_options *options, const char *used_path,
	const char *recorded_path, const struct elf_image *image)
{
	struct elf_build_id id = elf_image_build_id(image);
	struct binary_key key = {.build_id_size = id.size};
	memcpy(key.build_id, id.bytes, id.size);
	const char *path = search_build_id_cache(arena, options, &key, "debug");
	if (!path)
		path = search_system_debug(arena, options, id);
	if (!path && used_path)
		path = by_debuglink(arena, used_path, options->symfs, image);
	/* A copy in the cache has no debug file beside it; the file it was copied from may. */
	if (!path && recorded_path) {
		const char *original = arena_printf(arena, "%s%s", options->symfs ? options->symfs : "", recorded_path);
		path = original ? by_debuglink(arena, original, options->symfs, image) : NULL;
	}
	return path;
}
