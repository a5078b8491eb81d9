/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/sdt_notes.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "elf_builder.h"
#include "unit_test.h"

#define TEXT ELF_BUILDER_TEXT_VADDR
#define BASE (TEXT + 0x300)

struct sdt_note_form {
	bool is_64, is_big;
};

static void put_address(struct writer *w, const struct sdt_note_form *form, uint64_t address)
{
	if (form->is_64)
		writer_u64(w, address);
	else
		writer_u32(w, (uint32_t)address);
}

/* texts holds provider, name and arguments, each with its NUL. */
static void put_note(struct writer *w, const struct sdt_note_form *form, const uint64_t addresses[3], const char *texts,
	size_t texts_len)
{
	writer_u32(w, 8);
	writer_u32(w, (uint32_t)((form->is_64 ? 24 : 12) + texts_len));
	writer_u32(w, 3);
	writer_bytes(w, "stapsdt", 8);
	for (int i = 0; i < 3; i++)
		put_address(w, form, addresses[i]);
	writer_bytes(w, texts, texts_len);
	writer_align(w, 4);
}
#define PUT(w, form, addresses, texts) put_note((w), (form), (addresses), (texts), sizeof(texts))

static void start(struct writer *notes, const struct sdt_note_form *form)
{
	uint16_t probe = 1;
	bool host_is_big = *(const uint8_t *)&probe == 0;
	*notes = (struct writer){.swap = form->is_big != host_is_big};
}

static void read_notes(const struct sdt_note_form *form, const struct writer *notes, uint64_t base, struct writer *file,
	struct elf_image **image, struct sdt_note_list *list)
{
	struct elf_builder what = {
		.is_64 = form->is_64, .is_big = form->is_big, .sdt_notes = writer_view(notes), .sdt_base = base};
	elf_builder_make(&what, file);
	assert_false(file->failed);
	assert_int_equal(elf_image_open_bytes(writer_view(file), image, NULL), TALLY_OK);
	assert_int_equal(sdt_notes_read(*image, list, NULL), TALLY_OK);
}

static void reads_each_class_and_order(void **state)
{
	for (unsigned kind = 0; kind < 4; kind++) {
		struct sdt_note_form form = {kind & 1, kind & 2};
		struct writer notes, file = {0};
		struct elf_image *image;
		struct sdt_note_list list;
		start(&notes, &form);
		PUT(&notes, &form, ((uint64_t[]){TEXT + 4, BASE, 0}), "app\0first\0-4@%edi 8@%rsi");
		PUT(&notes, &form, ((uint64_t[]){TEXT + 8, BASE, TEXT + 0x80}), "app\0second\0");
		read_notes(&form, &notes, BASE, &file, &image, &list);
		assert_true(sdt_notes_are_there(image));
		assert_int_equal(list.notes.len, 2);
		assert_int_equal(list.damaged, 0);
		const struct sdt_note *note = list.notes.items;
		assert_string_equal(note[0].provider, "app");
		assert_string_equal(note[0].name, "first");
		assert_string_equal(note[0].arguments, "-4@%edi 8@%rsi");
		assert_int_equal(note[0].address, TEXT + 4);
		assert_int_equal(note[0].offset, ELF_BUILDER_TEXT_OFFSET + 4);
		assert_int_equal(note[0].semaphore, 0);
		assert_string_equal(note[1].name, "second");
		assert_string_equal(note[1].arguments, "");
		assert_int_equal(note[1].semaphore, ELF_BUILDER_TEXT_OFFSET + 0x80);
		sdt_notes_deinit(&list);
		elf_image_close(image);
		writer_deinit(&file);
		writer_deinit(&notes);
	}
}

/* prelink changes the addresses of a program and its .stapsdt.base, but not the addresses in the notes. */
static void follows_prelink(void **state)
{
	struct sdt_note_form form = {true, false};
	struct writer notes, file = {0};
	struct elf_image *image;
	struct sdt_note_list list;
	start(&notes, &form);
	PUT(&notes, &form, ((uint64_t[]){TEXT + 4 - 0x100000, BASE - 0x100000, TEXT + 0x80 - 0x100000}),
		"app\0moved\0");
	read_notes(&form, &notes, BASE, &file, &image, &list);
	assert_int_equal(list.notes.len, 1);
	assert_int_equal(list.notes.items[0].address, TEXT + 4);
	assert_int_equal(list.notes.items[0].semaphore, ELF_BUILDER_TEXT_OFFSET + 0x80);
	sdt_notes_deinit(&list);
	elf_image_close(image);
	writer_deinit(&file);
	writer_deinit(&notes);
}

static void damaged_notes_are_counted(void **state)
{
	struct sdt_note_form form = {true, false};
	struct writer notes, file = {0};
	struct elf_image *image;
	struct sdt_note_list list;
	start(&notes, &form);
	PUT(&notes, &form, ((uint64_t[]){TEXT + 4, 0, 0}), "app\0good\0");
	PUT(&notes, &form, ((uint64_t[]){0x10, 0, 0}), "app\0nowhere\0"); /* The address is in no segment. */
	PUT(&notes, &form, ((uint64_t[]){TEXT + 4, 0, 0x10}), "app\0semaphore_nowhere\0");
	PUT(&notes, &form, ((uint64_t[]){TEXT + 4, 0, 0}), "\0no_provider\0");
	put_note(&notes, &form, (uint64_t[]){TEXT + 4, 0, 0}, "app\0cut", 7); /* The name is not terminated. */
	put_note(&notes, &form, (uint64_t[]){TEXT + 4, 0, 0}, "app\0bare", 9); /* Older notes have no arguments. */
	writer_u32(&notes, 8);
	writer_u32(&notes, 0xfffffff0u); /* Larger than the section. */
	writer_u32(&notes, 3);
	writer_bytes(&notes, "stapsdt", 8);
	read_notes(&form, &notes, 0, &file, &image, &list);
	assert_int_equal(list.notes.len, 2);
	assert_string_equal(list.notes.items[0].name, "good");
	assert_string_equal(list.notes.items[1].name, "bare");
	assert_int_equal(list.damaged, 5);
	sdt_notes_deinit(&list);
	elf_image_close(image);
	writer_deinit(&file);
	writer_deinit(&notes);
}

static void every_prefix_is_survived(void **state)
{
	struct sdt_note_form form = {true, false};
	struct writer notes;
	start(&notes, &form);
	PUT(&notes, &form, ((uint64_t[]){TEXT + 4, BASE, TEXT + 8}), "app\0first\0-4@%edi");
	PUT(&notes, &form, ((uint64_t[]){TEXT + 4, BASE, TEXT + 8}), "app\0second\0-4@%edi");
	size_t whole = notes.len;
	for (size_t len = 1; len < whole; len++) {
		struct writer file = {0};
		struct elf_image *image;
		struct sdt_note_list list;
		notes.len = len;
		read_notes(&form, &notes, 0, &file, &image, &list);
		assert_true(list.notes.len <= 2);
		sdt_notes_deinit(&list);
		elf_image_close(image);
		writer_deinit(&file);
	}
	writer_deinit(&notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_each_class_and_order),
		cmocka_unit_test(follows_prelink),
		cmocka_unit_test(damaged_notes_are_counted),
		cmocka_unit_test(every_prefix_is_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
