/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/elf_image.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/checksum.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "object/elf/elf_internal.h"
#include "object/elf/unpack.h"
#include "object/elf/xz_decode.h"

#define HEAD_BYTES	  4096
#define LARGE_IMAGE	  ((size_t)1 << 20) /* Dropping the pages of smaller files is not worth a system call. */
#define NOTE_GNU_BUILD_ID 3

static void elf_image_read_segments(struct elf_image *image)
{
	size_t count;
	if (elf_getphdrnum(image->elf, &count) != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		if (!gelf_getphdr(image->elf, (int)i, &header))
			continue;
		if (header.p_type == PT_NOTE && header.p_offset <= image->bytes.len &&
			header.p_filesz <= image->bytes.len - header.p_offset) {
			struct tally_bytes notes = {image->bytes.data + header.p_offset, (size_t)header.p_filesz};
			if (image->build_id.size == 0)
				image->build_id = elf_notes_build_id(notes, image->swap);
		}
		if (header.p_type != PT_LOAD)
			continue;
		struct elf_segment segment = {
			.offset = header.p_offset,
			.vaddr = header.p_vaddr,
			.file_size = header.p_filesz,
			.memory_size = header.p_memsz,
			.is_executable = (header.p_flags & PF_X) != 0,
		};
		if (!vec_push(&image->segments, segment))
			return;
	}
}

Elf_Scn *elf_internal_section_after(
	const struct elf_image *image, const char *name, Elf_Scn *section, GElf_Shdr *header)
{
	size_t names;
	if (elf_getshdrstrndx(image->elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(image->elf, section))) {
		if (!gelf_getshdr(section, header))
			continue;
		const char *found = elf_strptr(image->elf, names, header->sh_name);
		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}

Elf_Scn *elf_internal_section(const struct elf_image *image, const char *name, GElf_Shdr *header)
{
	return elf_internal_section_after(image, name, NULL, header);
}

struct tally_bytes elf_internal_section_bytes(const struct elf_image *image, const GElf_Shdr *header)
{
	if (header->sh_type == SHT_NOBITS || header->sh_offset > image->bytes.len ||
		header->sh_size > image->bytes.len - header->sh_offset)
		return (struct tally_bytes){NULL, 0};
	return (struct tally_bytes){image->bytes.data + header->sh_offset, (size_t)header->sh_size};
}

struct tally_bytes elf_image_section(const struct elf_image *image, const char *name)
{
	GElf_Shdr header;
	bool is_there = elf_internal_section(image, name, &header) != NULL;
	return is_there ? elf_internal_section_bytes(image, &header) : (struct tally_bytes){NULL, 0};
}

uint64_t elf_image_section_address(const struct elf_image *image, const char *name)
{
	GElf_Shdr header;
	return elf_internal_section(image, name, &header) ? header.sh_addr : 0;
}

static enum tally_status elf_image_init(struct elf_image *image, struct tally_error *err)
{
	elf_version(EV_CURRENT);
	errno = 0;
	/* libelf does not write to an image in memory, so the cast is safe. */
	image->elf = elf_memory((char *)(uintptr_t)image->bytes.data, image->bytes.len);
	GElf_Ehdr header;
	if (!image->elf && errno == ENOMEM)
		return error_nomem(err);
	if (image->bytes.len < EI_NIDENT || !image->elf || elf_kind(image->elf) != ELF_K_ELF ||
		!gelf_getehdr(image->elf, &header))
		return error_set(err, TALLY_CORRUPT, "not an ELF file");
	image->machine = header.e_machine;
	image->type = header.e_type;
	uint16_t probe = 1;
	bool host_is_little = *(uint8_t *)&probe == 1;
	image->swap = (header.e_ident[EI_DATA] == ELFDATA2LSB) != host_is_little;
	uint64_t table = (uint64_t)header.e_shnum * header.e_shentsize;
	image->is_cut = header.e_shoff > image->bytes.len || table > image->bytes.len - header.e_shoff;
	elf_image_read_segments(image);
	if (image->build_id.size == 0)
		image->build_id = elf_notes_build_id(elf_image_section(image, ".note.gnu.build-id"), image->swap);
	return TALLY_OK;
}

static struct elf_image *new_image(void)
{
	struct elf_image *image = calloc(1, sizeof(*image));
	if (image)
		arena_init(&image->arena);
	return image;
}

enum tally_status elf_image_open_bytes(struct tally_bytes bytes, struct elf_image **out, struct tally_error *err)
{
	struct elf_image *image = new_image();
	if (!image)
		return error_nomem(err);
	image->bytes = bytes;
	enum tally_status status = elf_image_init(image, err);
	if (status != TALLY_OK) {
		elf_image_close(image);
		return status;
	}
	*out = image;
	return TALLY_OK;
}

/* Consumes the image. status is the result of mapping its file. */
static enum tally_status elf_image_finish_open(struct elf_image *image, enum tally_status status, const char *path,
	struct elf_image **out, struct tally_error *err)
{
	if (status == TALLY_OK) {
		image->bytes = image->map.bytes;
		if (unpack_is_packed(image->bytes))
			status = unpack(image->map.bytes, LIMIT_PACKED_ELF, &image->owned, &image->bytes.len, err);
		if (image->owned)
			image->bytes.data = image->owned;
	}
	if (status == TALLY_OK) {
		status = elf_image_init(image, err);
		if (status != TALLY_OK)
			error_prefix(err, "%s", path);
	}
	if (status != TALLY_OK) {
		elf_image_close(image);
		return status;
	}
	*out = image;
	return TALLY_OK;
}

enum tally_status elf_image_open(const char *path, struct elf_image **out, struct tally_error *err)
{
	struct elf_image *image = new_image();
	if (!image)
		return error_nomem(err);
	return elf_image_finish_open(image, file_map_open(path, &image->map, err), path, out, err);
}

enum tally_status elf_image_open_fd(int fd, const char *path, struct elf_image **out, struct tally_error *err)
{
	struct elf_image *image = new_image();
	if (!image)
		return error_nomem(err);
	return elf_image_finish_open(image, file_map_fd(fd, path, &image->map, err), path, out, err);
}

static const struct elf_segment *first_code(const struct elf_image *image)
{
	for (size_t i = 0; i < image->segments.len; i++)
		if (image->segments.items[i].is_executable)
			return &image->segments.items[i];
	return NULL;
}

uint64_t elf_image_moved(const struct elf_image *image, const struct elf_image *debug)
{
	const struct elf_segment *code = first_code(image), *original = first_code(debug);
	bool is_same = code && original && code->memory_size == original->memory_size;
	return is_same ? code->vaddr - original->vaddr : 0;
}

bool elf_image_is_cut(const struct elf_image *image)
{
	return image->is_cut;
}

bool elf_image_is_unchanged(const struct elf_image *image, const char *path)
{
	return !image->map.is_mapped || file_map_is_unchanged(&image->map, path);
}

void elf_image_drop(const struct elf_image *image)
{
	if (image->map.bytes.len >= LARGE_IMAGE)
		file_map_drop(&image->map, image->map.bytes);
}

enum tally_status elf_image_open_minidebug(
	const struct elf_image *image, struct elf_image **out, struct tally_error *err)
{
	struct tally_bytes packed = elf_image_section(image, ".gnu_debugdata");
	if (packed.len == 0)
		return error_set(err, TALLY_NOT_FOUND, "no .gnu_debugdata");
	struct elf_image *inner = new_image();
	if (!inner)
		return error_nomem(err);
	enum tally_status status = xz_decode(packed, LIMIT_MINIDEBUG_BYTES, &inner->owned, &inner->bytes.len, err);
	if (status == TALLY_OK) {
		inner->bytes.data = inner->owned;
		status = elf_image_init(inner, err);
	}
	if (status != TALLY_OK) {
		elf_image_close(inner);
		return status;
	}
	*out = inner;
	return TALLY_OK;
}

void elf_image_close(struct elf_image *image)
{
	if (!image)
		return;
	elf_end(image->elf);
	file_map_close(&image->map);
	vec_free(&image->segments);
	arena_deinit(&image->arena);
	free(image->owned);
	free(image);
}

const struct elf_segment *elf_image_segments(const struct elf_image *image, size_t *count)
{
	*count = image->segments.len;
	return image->segments.items;
}

struct elf_origin elf_image_origin(const struct elf_image *image)
{
	struct tally_bytes head = elf_image_bytes(image);
	struct elf_origin origin = {.device = image->map.device,
		.inode = image->map.inode,
		.bytes = head.len,
		.mtime_ns = image->map.mtime_ns};
	head.len = MIN(head.len, HEAD_BYTES);
	origin.head = checksum_crc32(head);
	return origin;
}

struct elf_build_id elf_image_build_id(const struct elf_image *image)
{
	return image->build_id;
}

unsigned elf_image_machine(const struct elf_image *image)
{
	return image->machine;
}

uint64_t elf_image_entry(const struct elf_image *image)
{
	GElf_Ehdr header;
	return gelf_getehdr(image->elf, &header) ? header.e_entry : 0;
}

uint8_t elf_image_pointer_bytes(const struct elf_image *image)
{
	return gelf_getclass(image->elf) == ELFCLASS32 ? 4 : 8;
}

struct tally_bytes elf_image_bytes(const struct elf_image *image)
{
	return image->bytes;
}

bool elf_image_is_swapped(const struct elf_image *image)
{
	return image->swap;
}

bool elf_image_debuglink(const struct elf_image *image, struct tally_str *name, uint32_t *crc)
{
	struct cursor c = cursor_make(elf_image_section(image, ".gnu_debuglink"), image->swap);
	if (c.len < 8)
		return false;
	struct tally_str text = cursor_text(&c, c.len - 4);
	*crc = cursor_u32(&c);
	*name = text;
	return !c.failed && text.len > 0 && !memchr(text.data, '/', text.len);
}

struct elf_build_id elf_notes_build_id(struct tally_bytes notes, bool swap)
{
	struct elf_build_id id = {0};
	struct cursor c = cursor_make(notes, swap);
	while (cursor_left(&c) >= 12) {
		uint32_t name_size = cursor_u32(&c);
		uint32_t desc_size = cursor_u32(&c);
		uint32_t type = cursor_u32(&c);
		struct tally_bytes name = cursor_bytes(&c, name_size);
		cursor_skip(&c, (4 - name_size % 4) % 4);
		struct tally_bytes desc = cursor_bytes(&c, desc_size);
		if (c.failed)
			break;
		if (type == NOTE_GNU_BUILD_ID && name.len == 4 && memcmp(name.data, "GNU", 4) == 0 && desc.len > 0) {
			id.size = desc.len > sizeof(id.bytes) ? (uint8_t)sizeof(id.bytes) : (uint8_t)desc.len;
			memcpy(id.bytes, desc.data, id.size);
			return id;
		}
		size_t padding = (4 - desc_size % 4) % 4;
		cursor_skip(&c, padding < cursor_left(&c) ? padding : cursor_left(&c));
	}
	return id;
}

enum tally_status elf_file_build_id(const char *path, struct elf_build_id *id, struct tally_error *err)
{
	struct elf_image *image = NULL;
	enum tally_status status = elf_image_open(path, &image, err);
	if (status != TALLY_OK)
		return status;
	struct elf_build_id found = image->build_id;
	elf_image_close(image);
	if (found.size == 0)
		return error_set(err, TALLY_NOT_FOUND, "%s has no build id", path);
	*id = found;
	return TALLY_OK;
}
