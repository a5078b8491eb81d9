/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/binary_file.h"

#include <unistd.h>

#include "base/array.h"
#include "base/checksum.h"
#include "code/binaries/binary_trail.h"
#include "code/binaries/build_id_cache.h"
#include "code/process_files.h"

static enum tally_status open_cached(const struct binary_place *place, int *fd, struct tally_error *err)
{
	struct build_id_cache cache;
	/* The cache's folder is the part of the path before "/.build-id/". */
	size_t tail = strlen("/.build-id//") + 2 * (size_t)place->id.size + 1 + strlen(place->inside);
	size_t len = strlen(place->path);
	if (len <= tail || len - tail >= sizeof(cache.dir))
		return TALLY_NOT_FOUND;
	memcpy(cache.dir, place->path, len - tail);
	cache.dir[len - tail] = '\0';
	return build_id_cache_open(&cache, &place->id, place->inside, fd, err);
}

static enum tally_status binary_file_open_place(
	const struct binary_place *place, struct elf_image **image, struct tally_error *err)
{
	int fd;
	if (place->kind == PLACE_PATH)
		return elf_image_open(place->path, image, err);
	if (place->kind == PLACE_KEPT)
		return elf_image_open_fd(place->fd, place->path, image, err);
	enum tally_status status = place->kind == PLACE_CACHE ? open_cached(place, &fd, err)
							      : process_root_open(place->pid, place->inside, &fd, err);
	if (status != TALLY_OK)
		return status;
	status = elf_image_open_fd(fd, place->path, image, err);
	close(fd);
	return status;
}

bool binary_file_has_debug_info(const struct elf_image *image)
{
	return elf_image_section(image, ".debug_info").len > 0 || elf_image_section(image, ".zdebug_info").len > 0;
}

static const char *binary_file_lacking(const struct elf_image *image, enum debug_file_need need)
{
	switch (need) {
	case DEBUG_FILE_SYMBOLS:
		return elf_image_has_symtab(image) ? NULL : "no .symtab";
	case DEBUG_FILE_INFO:
		return binary_file_has_debug_info(image) ? NULL : "no .debug_info";
	case DEBUG_FILE_FRAMES:
		return elf_image_section(image, ".debug_frame").len > 0 ||
				       elf_image_section(image, ".zdebug_frame").len > 0
			       ? NULL
			       : "no .debug_frame";
	case DEBUG_FILE_ANY:
		break;
	}
	return NULL;
}

/* Checks for the needed sections before the checksum, because the checksum requires reading the whole file. */
static struct elf_image *binary_file_open_with(struct binary_entry *entry, const struct binary_place *place,
	const struct binary_key *key, enum debug_file_need need)
{
	struct elf_image *image;
	struct tally_error err = {0};
	if (!place->path)
		return NULL;
	enum tally_status status = binary_file_open_place(place, &image, &err);
	if (status != TALLY_OK) {
		enum binary_found found = binary_trail_found(status);
		const char *detail = found == BINARY_FOUND_UNREADABLE
					     ? arena_string(&entry->arena, err.text, strlen(err.text))
					     : NULL;
		binary_trail_add(entry, place->source, place->path, found, detail);
		return NULL;
	}
	struct elf_build_id id = elf_image_build_id(image);
	const char *lack = binary_file_lacking(image, need);
	if (!search_is_recorded(key, id)) {
		binary_trail_add(entry, place->source, place->path, BINARY_FOUND_OTHER_BUILD_ID,
			id.size ? search_hex(&entry->arena, id.bytes, id.size) : "missing");
	} else if (lack) {
		binary_trail_add(entry, place->source, place->path, BINARY_FOUND_NO_SYMBOLS, lack);
	} else if (place->has_crc && checksum_crc32(elf_image_bytes(image)) != place->crc) {
		binary_trail_add(entry, place->source, place->path, BINARY_FOUND_OTHER_CHECKSUM, NULL);
	} else {
		binary_trail_add(entry, place->source, place->path, BINARY_FOUND_USED, NULL);
		return image;
	}
	elf_image_close(image);
	return NULL;
}

struct elf_image *binary_file_open(
	struct binary_entry *entry, const struct binary_place *place, const struct binary_key *key)
{
	return binary_file_open_with(entry, place, key, DEBUG_FILE_ANY);
}

static struct binary_key binary_file_key_of(struct elf_build_id id)
{
	struct binary_key key = {.build_id_size = id.size};
	memcpy(key.build_id, id.bytes, id.size);
	return key;
}

static struct elf_image *binary_file_open_first(
	struct binary_entry *entry, const struct binary_places *places, struct elf_build_id id, const char **path)
{
	const struct binary_key key = binary_file_key_of(id);
	for (size_t i = 0; i < places->count; i++) {
		struct elf_image *image = binary_file_open(entry, &places->items[i], &key);
		if (image) {
			*path = places->items[i].path;
			return image;
		}
	}
	return NULL;
}

struct elf_image *binary_file_debug(struct binary_entry *entry, const struct binary_store_options *options,
	enum debug_file_need need, const char **path)
{
	struct binary_places places;
	const struct binary_key key = binary_file_key_of(elf_image_build_id(entry->image));
	search_debug_file(entry, options, &places);
	for (size_t i = 0; i < places.count; i++) {
		struct elf_image *image = binary_file_open_with(entry, &places.items[i], &key, need);
		if (image) {
			*path = places.items[i].path;
			return image;
		}
	}
	return NULL;
}

/* Returns the path of dwz's common file, or NULL. Section .gnu_debugaltlink has the path, a zero byte, and the common
 * file's build ID. */
const char *binary_file_supplement_name(const struct elf_image *debug)
{
	struct tally_bytes link = elf_image_section(debug, ".gnu_debugaltlink");
	size_t length = link.len > 0 ? strnlen((const char *)link.data, link.len) : 0;
	return length > 0 && length < link.len ? (const char *)link.data : NULL;
}

struct elf_image *binary_file_supplement(struct binary_entry *entry, const struct elf_image *debug, const char *path)
{
	const char *name = binary_file_supplement_name(debug);
	if (!name)
		return NULL;
	struct tally_bytes link = elf_image_section(debug, ".gnu_debugaltlink");
	size_t length = strlen(name), id_size = link.len - length - 1;
	struct elf_build_id id = {.size = (uint8_t)(MIN(id_size, ELF_BUILD_ID_MAX))};
	memcpy(id.bytes, link.data + length + 1, id.size);
	struct binary_places places;
	search_supplement(entry, path, name, id, &places);
	return binary_file_open_first(entry, &places, id, &path);
}

struct elf_image *binary_file_package(
	struct binary_entry *entry, const struct elf_image *debug, const char *path, const char **package_path)
{
	struct binary_places places;
	/* A program with split units has the addresses that they refer to by index in section .debug_addr. */
	if (elf_image_section(debug, ".debug_addr").len == 0)
		return NULL;
	search_package(entry, path, &places);
	/* A .dwp file has no build ID; its units are matched by their IDs. */
	return binary_file_open_first(entry, &places, (struct elf_build_id){.size = 0}, package_path);
}
