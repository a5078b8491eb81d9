/* SPDX-License-Identifier: Apache-2.0 */
#include "code/binaries/load_archive.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/array.h"
#include "base/limits.h"
#include "code/binaries/file_doubt.h"
#include "code/process_files.h"
#include "object/elf/go_table.h"

#define LOAD_ARCHIVE_PAGE 4096u
#define ELF_MAGIC	  "\177ELF"
#define IMAGES_MAX	  4096u
#define OPENED_MAX	  64u /* Maximum number of ELF files for which call-frame information is read. */
#define SEARCHED_MAX	  (UINT64_C(4) << 30) /* Limits the search, because a sparse file of any size costs nothing. */

struct archive {
	struct binary_entry *entry;
	struct tally_bytes bytes;
	/* Numbers of ELF files that were found, and of symbols in them. Both are limited, as ELF files may overlap. */
	size_t image_count, listed;
	bool failed; /* Memory ran out. */
};

static int open_archive(const struct binary_place *place)
{
	int fd = -1;
	switch (place->kind) {
	case PLACE_PATH:
		return open(place->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	case PLACE_PROCESS:
		return process_root_open(place->pid, place->inside, &fd, NULL) == TALLY_OK ? fd : -1;
	case PLACE_KEPT:
		return fcntl(place->fd, F_DUPFD_CLOEXEC, 0);
	case PLACE_CACHE:
		break;
	}
	return -1;
}

static bool begins_elf(struct tally_bytes bytes)
{
	return bytes.len > sizeof(ELF_MAGIC) && memcmp(bytes.data, ELF_MAGIC, sizeof(ELF_MAGIC) - 1) == 0;
}

static bool offset_in_image(const struct elf_image *image, uint64_t vaddr, uint64_t *offset)
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(image, &count);
	for (size_t i = 0; i < count; i++)
		if (vaddr >= segments[i].vaddr && vaddr - segments[i].vaddr < segments[i].file_size) {
			*offset = vaddr - segments[i].vaddr + segments[i].offset;
			return true;
		}
	return false;
}

/* Copies the name, because the file does not stay open. */
static void load_archive_add_function(
	struct archive *archive, const struct elf_image *image, uint64_t base, const struct elf_symbol *symbol)
{
	uint64_t offset;
	if (archive->failed || !offset_in_image(image, symbol->vaddr, &offset) || offset > archive->bytes.len - base ||
		archive->entry->symbols.symbols.len >= LIMIT_SYMBOLS_PER_OBJECT)
		return;
	const char *name = arena_string(&archive->entry->arena, symbol->name, strlen(symbol->name));
	archive->failed = !name || !symbol_table_add(&archive->entry->symbols, base + offset, symbol->size, name,
					   symbol->binding);
	if (!archive->failed)
		symbol_table_mark_object(&archive->entry->symbols, symbol->is_object);
}

static void add_archive_image(struct archive *archive, uint64_t base)
{
	struct elf_image *image;
	struct elf_symbol_list list = {0};
	struct go_function_list go = {0};
	if (elf_image_open_bytes(bytes_part(archive->bytes, (size_t)base, archive->bytes.len), &image, NULL) !=
		TALLY_OK)
		return;
	archive->image_count++;
	archive->failed |= elf_image_symbols(image, &list, NULL) != TALLY_OK;
	archive->listed += list.symbols.len;
	for (size_t i = 0; i < list.symbols.len; i++)
		load_archive_add_function(archive, image, base, &list.symbols.items[i]);
	if (!elf_image_has_symtab(image))
		archive->failed |= elf_image_go_functions(image, &go, NULL) == TALLY_NOMEM;
	for (size_t i = 0; i < go.functions.len; i++) {
		const struct go_function *from = &go.functions.items[i];
		const struct elf_symbol symbol = {
			.vaddr = from->vaddr, .size = from->size, .name = from->name, .binding = 'l'};
		load_archive_add_function(archive, image, base, &symbol);
	}
	vec_free(&go.functions);
	vec_free(&list.symbols);
	elf_image_close(image);
}

static void tell_archive(struct archive *archive, const struct binary_place *place)
{
	struct binary_entry *entry = archive->entry;
	struct binary_step *step = &entry->trail.items[entry->trail.len - 1];
	size_t names = entry->symbols.symbols.len;
	if (archive->failed || !symbol_table_finish(&entry->symbols, SYMBOLS_SIZED)) {
		binary_entry_out_of_memory(entry);
		return;
	}
	step->found = names ? BINARY_FOUND_USED : BINARY_FOUND_NO_SYMBOLS;
	step->detail = archive->image_count ? arena_printf(&entry->arena,
						      "not an ELF file; it contains %zu ELF files with %zu symbols",
						      archive->image_count, names)
					    : "not an ELF file, and it contains none";
	if (names)
		binary_entry_set(entry, BINARY_OK, NULL);
	else if (archive->image_count)
		binary_entry_set(entry, BINARY_NO_SYMBOLS,
			arena_printf(&entry->arena, "the libraries in %s are stripped", place->path));
	else
		binary_entry_set(entry, BINARY_NO_SYMBOLS,
			arena_printf(&entry->arena,
				"%s is not an ELF file, and no ELF file starts on a page boundary in it", place->path));
}

static bool map_archive(const struct binary_entry *entry, const struct binary_place *place, struct file_map *map)
{
	const struct binary_step *step = entry->trail.len ? &entry->trail.items[entry->trail.len - 1] : NULL;
	bool is_tried = step && step->found == BINARY_FOUND_DAMAGED && strcmp(step->path, place->path) == 0;
	int fd = is_tried ? open_archive(place) : -1;
	if (fd < 0)
		return false;
	enum tally_status status = file_map_fd(fd, place->path, map, NULL);
	close(fd);
	return status == TALLY_OK;
}

bool load_archive_open(const struct binary_store_options *options, struct binary_entry *entry,
	const struct binary_place *place, struct archive_images *images)
{
	*images = (struct archive_images){0};
	if (!map_archive(entry, place, &images->map))
		return false;
	struct tally_bytes all = images->map.bytes;
	bool is_archive = all.len > 0 && !begins_elf(all) && file_doubt_accept(options, entry, place);
	uint64_t end = MIN(all.len, SEARCHED_MAX);
	for (uint64_t at = LOAD_ARCHIVE_PAGE; is_archive && at < end && images->items.len < OPENED_MAX;
		at += LOAD_ARCHIVE_PAGE) {
		struct archive_image one = {.base = at};
		if (!begins_elf(bytes_part(all, (size_t)at, LOAD_ARCHIVE_PAGE)) ||
			elf_image_open_bytes(bytes_part(all, (size_t)at, all.len), &one.image, NULL) != TALLY_OK)
			continue;
		if (!vec_push(&images->items, one)) {
			elf_image_close(one.image);
			break;
		}
	}
	if (images->items.len)
		return true;
	load_archive_close(images);
	return false;
}

void load_archive_close(struct archive_images *images)
{
	for (size_t i = 0; i < images->items.len; i++)
		elf_image_close(images->items.items[i].image);
	vec_free(&images->items);
	file_map_close(&images->map);
}

bool load_archive(
	const struct binary_store_options *options, struct binary_entry *entry, const struct binary_place *place)
{
	struct file_map map;
	if (!map_archive(entry, place, &map))
		return false;
	struct archive archive = {.entry = entry, .bytes = map.bytes};
	bool is_archive = map.bytes.len > 0 && !begins_elf(map.bytes) && file_doubt_accept(options, entry, place);
	uint64_t end = MIN(map.bytes.len, SEARCHED_MAX);
	for (uint64_t at = LOAD_ARCHIVE_PAGE;
		is_archive && at < end && archive.image_count < IMAGES_MAX && archive.listed < LIMIT_SYMBOLS_PER_OBJECT;
		at += LOAD_ARCHIVE_PAGE)
		if (begins_elf(bytes_part(map.bytes, (size_t)at, LOAD_ARCHIVE_PAGE)))
			add_archive_image(&archive, at);
	if (is_archive) {
		entry->used_path = place->path;
		tell_archive(&archive, place);
	}
	file_map_close(&map);
	return is_archive && archive.image_count > 0;
}
