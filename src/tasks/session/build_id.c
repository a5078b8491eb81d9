/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/build_id.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "code/binaries/vdso_image.h"

#define BUILD_ID_NOTES_BYTES_MAX (1u << 20)
#define HEADER_COUNT_MAX	 65535u

bool build_id_in_notes(struct tally_bytes notes, bool swap, struct record_build_id *id)
{
	struct cursor c = cursor_make(notes, swap);
	while (cursor_left(&c) >= 12) {
		uint32_t name_len = cursor_u32(&c), desc_len = cursor_u32(&c), type = cursor_u32(&c);
		struct tally_bytes name = cursor_bytes(&c, ((size_t)name_len + 3) & ~(size_t)3);
		struct tally_bytes desc = cursor_bytes(&c, desc_len);
		if (c.failed)
			return false;
		if (type == NT_GNU_BUILD_ID && name_len == 4 && memcmp(name.data, "GNU", 4) == 0 && desc_len &&
			desc_len <= sizeof(id->bytes)) {
			*id = (struct record_build_id){.size = (uint8_t)desc_len};
			memcpy(id->bytes, desc.data, desc_len);
			return true;
		}
		size_t padding = (4 - desc_len % 4) % 4, left = cursor_left(&c);
		cursor_skip(&c, MIN(padding, left));
	}
	return false;
}

struct elf_layout {
	bool is_64, swap;
	uint64_t headers, entry_bytes, count;
};

static bool read_layout(struct tally_bytes elf, struct elf_layout *layout)
{
	const bool host_is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	if (elf.len < EI_NIDENT || memcmp(elf.data, ELFMAG, SELFMAG) != 0)
		return false;
	layout->is_64 = elf.data[EI_CLASS] == ELFCLASS64;
	layout->swap = (elf.data[EI_DATA] == ELFDATA2LSB) != host_is_little;
	struct cursor c = cursor_make(elf, layout->swap);
	cursor_skip(&c, layout->is_64 ? 32 : 28);
	layout->headers = layout->is_64 ? cursor_u64(&c) : cursor_u32(&c);
	cursor_skip(&c, layout->is_64 ? 14 : 10);
	layout->entry_bytes = cursor_u16(&c);
	layout->count = cursor_u16(&c);
	return !c.failed && layout->entry_bytes >= (layout->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
}

bool build_id_in_elf(struct tally_bytes elf, struct record_build_id *id)
{
	struct elf_layout layout;
	if (!read_layout(elf, &layout))
		return false;
	for (uint64_t i = 0; i < layout.count; i++) {
		struct cursor c = cursor_make(elf, layout.swap);
		if (layout.headers > elf.len)
			return false;
		cursor_skip(&c, (size_t)layout.headers);
		cursor_skip(&c, (size_t)(i * layout.entry_bytes));
		uint32_t type = cursor_u32(&c);
		cursor_skip(&c, layout.is_64 ? 4 : 0);
		uint64_t offset = layout.is_64 ? cursor_u64(&c) : cursor_u32(&c);
		cursor_skip(&c, layout.is_64 ? 16 : 8);
		uint64_t size = layout.is_64 ? cursor_u64(&c) : cursor_u32(&c);
		if (c.failed)
			return false;
		if (type != PT_NOTE || offset > elf.len || size > elf.len - offset)
			continue;
		if (build_id_in_notes((struct tally_bytes){elf.data + offset, (size_t)size}, layout.swap, id))
			return true;
	}
	return false;
}

bool build_id_of_file(const char *path, struct record_build_id *id)
{
	struct file_map map;
	if (file_map_open(path, &map, NULL) != TALLY_OK)
		return false;
	bool is_found = build_id_in_elf(map.bytes, id);
	file_map_close(&map);
	return is_found;
}

bool build_id_of_kernel(struct record_build_id *id)
{
	char *notes;
	size_t len;
	if (file_read("/sys/kernel/notes", BUILD_ID_NOTES_BYTES_MAX, &notes, &len, NULL) != TALLY_OK)
		return false;
	bool is_found = build_id_in_notes((struct tally_bytes){(const uint8_t *)notes, len}, false, id);
	free(notes);
	return is_found;
}

bool build_id_of_vdso(struct tally_str name, struct record_build_id *id)
{
	struct vdso_image image;
	if (!vdso_image_open(name, &image))
		return false;
	bool is_found = build_id_in_elf(image.bytes, id);
	vdso_image_close(&image);
	return is_found;
}
