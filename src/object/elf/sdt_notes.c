/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/sdt_notes.h"

#include "base/cursor.h"
#include "base/error.h"

#define SDT_SECTION   ".note.stapsdt"
#define SDT_BASE      ".stapsdt.base"
#define SDT_OWNER     "stapsdt"
#define SDT_NOTE_TYPE 3 /* Value of NT_STAPSDT. */
#define SDT_NOTES_MAX (1u << 17) /* Maximum number of notes of one program; QEMU has some thousands. */

struct sdt_notes_reader {
	const struct elf_image *image;
	struct sdt_note_list *list;
	/* Address of the section .stapsdt.base; 0 if the program has none. The difference to the address in a note
	 * shows how far prelink moved the program. */
	uint64_t base;
};

static bool sdt_notes_offset(const struct elf_image *image, uint64_t address, uint64_t *offset)
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(image, &count);
	for (size_t i = 0; i < count; i++) {
		if (address < segments[i].vaddr || address - segments[i].vaddr >= segments[i].file_size)
			continue;
		*offset = segments[i].offset + (address - segments[i].vaddr);
		return true;
	}
	return false;
}

/* Reads a string of the description. Only the last string may lack its terminating NUL. */
static const char *sdt_notes_string(struct sdt_notes_reader *r, struct cursor *c, bool may_be_missing)
{
	size_t left = cursor_left(c);
	const char *start = (const char *)c->data + c->pos;
	const char *end = left > 0 ? memchr(start, '\0', left) : NULL;
	if (!end) {
		c->failed |= !may_be_missing;
		return "";
	}
	size_t len = (size_t)(end - start);
	cursor_skip(c, len + 1);
	return arena_string(&r->list->arena, start, len);
}

static uint64_t sdt_notes_address(struct cursor *c, uint8_t pointer_bytes)
{
	return pointer_bytes == 4 ? cursor_u32(c) : cursor_u64(c);
}

/* Returns false if memory runs out. */
static bool sdt_notes_add(struct sdt_notes_reader *r, struct tally_bytes description)
{
	struct cursor c = cursor_make(description, elf_image_is_swapped(r->image));
	uint8_t pointer_bytes = elf_image_pointer_bytes(r->image);
	struct sdt_note note = {.address = sdt_notes_address(&c, pointer_bytes)};
	uint64_t base = sdt_notes_address(&c, pointer_bytes);
	uint64_t semaphore = sdt_notes_address(&c, pointer_bytes);
	note.provider = sdt_notes_string(r, &c, false);
	note.name = sdt_notes_string(r, &c, false);
	note.arguments = sdt_notes_string(r, &c, true);
	if (!note.provider || !note.name || !note.arguments)
		return false;
	uint64_t moved = r->base && base ? r->base - base : 0;
	note.address += moved;
	if (c.failed || !*note.provider || !*note.name || !sdt_notes_offset(r->image, note.address, &note.offset) ||
		(semaphore && !sdt_notes_offset(r->image, semaphore + moved, &note.semaphore)) ||
		r->list->notes.len >= SDT_NOTES_MAX) {
		r->list->damaged++;
		return true;
	}
	return vec_push(&r->list->notes, note);
}

/* The last note may lack its padding. */
static void sdt_notes_align(struct cursor *c, uint32_t size)
{
	size_t padding = (4 - size % 4) % 4, left = cursor_left(c);
	cursor_skip(c, padding < left ? padding : left);
}

static bool sdt_notes_read_all(struct sdt_notes_reader *r, struct tally_bytes notes)
{
	struct cursor c = cursor_make(notes, elf_image_is_swapped(r->image));
	while (cursor_left(&c) > 0) {
		uint32_t name_size = cursor_u32(&c);
		uint32_t description_size = cursor_u32(&c);
		uint32_t type = cursor_u32(&c);
		struct tally_bytes owner = cursor_bytes(&c, name_size);
		sdt_notes_align(&c, name_size);
		struct tally_bytes description = cursor_bytes(&c, description_size);
		if (c.failed) {
			r->list->damaged++;
			return true;
		}
		sdt_notes_align(&c, description_size);
		bool is_probe = type == SDT_NOTE_TYPE && owner.len == sizeof(SDT_OWNER) &&
				memcmp(owner.data, SDT_OWNER, sizeof(SDT_OWNER)) == 0;
		if (is_probe && !sdt_notes_add(r, description))
			return false;
	}
	return true;
}

bool sdt_notes_are_there(const struct elf_image *image)
{
	return elf_image_section(image, SDT_SECTION).len > 0;
}

enum tally_status sdt_notes_read(const struct elf_image *image, struct sdt_note_list *list, struct tally_error *err)
{
	*list = (struct sdt_note_list){0};
	arena_init(&list->arena);
	struct sdt_notes_reader r = {image, list, elf_image_section_address(image, SDT_BASE)};
	if (sdt_notes_read_all(&r, elf_image_section(image, SDT_SECTION)))
		return TALLY_OK;
	sdt_notes_deinit(list);
	return error_nomem(err);
}

void sdt_notes_deinit(struct sdt_note_list *list)
{
	vec_free(&list->notes);
	arena_deinit(&list->arena);
}
