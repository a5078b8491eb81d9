#include "code/binaries/search_path.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/file.h"

#define HEX_ROOM (2 * ELF_BUILD_ID_MAX + 1)

static void to_hex(const uint8_t *bytes, size_t count, char *out)
{
	for (size_t i = 0; i < count; i++) {
		out[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
		out[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
	}
	out[2 * count] = '\0';
}

const char *search_build_id_cache(struct arena *arena, const struct binary_key *key, const char *file)
{
	const char *home = getenv("HOME");
	if (!home || key->build_id_size < 2)
		return NULL;
	char hex[HEX_ROOM];
	to_hex(key->build_id, key->build_id_size, hex);
	const char *path = arena_printf(arena, "%s/.debug/.build-id/%.2s/%s/%s", home, hex, hex + 2, file);
	return path && file_exists(path) ? path : NULL;
}

const char *search_with_root(struct arena *arena, const char *symfs, struct tally_str path)
{
	return arena_printf(arena, "%s%.*s", symfs ? symfs : "", (int)path.len, path.data);
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

const char *search_debug_file(struct arena *arena, const struct binary_key *key, const char *used_path,
	const char *symfs, const struct elf_image *image)
{
	struct elf_build_id id = elf_image_build_id(image);
	if (id.size >= 2) {
		struct binary_key by_file = *key;
		by_file.build_id_size = id.size;
		memcpy(by_file.build_id, id.bytes, id.size);
		const char *cached = search_build_id_cache(arena, &by_file, "debug");
		if (cached)
			return cached;
		char hex[HEX_ROOM];
		to_hex(id.bytes, id.size, hex);
		const char *path = arena_printf(
			arena, "%s/usr/lib/debug/.build-id/%.2s/%s.debug", symfs ? symfs : "", hex, hex + 2);
		if (path && file_exists(path))
			return path;
	}
	return by_debuglink(arena, used_path, symfs, image);
}
