/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/build_id.h"

#include <stdlib.h>
#include <string.h>

#include "base/writer.h"
#include "unit_test.h"

static void put_note(struct writer *w, uint32_t type, const char *name, uint32_t desc_len)
{
	size_t name_len = strlen(name) + 1;
	writer_u32(w, (uint32_t)name_len);
	writer_u32(w, desc_len);
	writer_u32(w, type);
	writer_bytes(w, name, name_len);
	writer_zeros(w, (4 - name_len % 4) % 4);
	for (uint32_t i = 0; i < desc_len; i++)
		writer_u8(w, (uint8_t)(i + 1));
	writer_zeros(w, (4 - desc_len % 4) % 4);
}

/* Makes an image of this class and byte order with the build ID after another note. */
static struct writer make_elf(bool is_64, bool is_little, uint32_t desc_len)
{
	struct writer notes = {.swap = !is_little};
	struct writer w = {.swap = !is_little};
	uint32_t header = is_64 ? 64 : 52, entry = is_64 ? 56 : 32, at = header + 2 * entry;
	put_note(&notes, 1, "GNU", 6);
	put_note(&notes, 3, "stapsdt", 8);
	put_note(&notes, 3, "GNU", desc_len);
	writer_bytes(&w, "\177ELF", 4);
	writer_u8(&w, is_64 ? 2 : 1);
	writer_u8(&w, is_little ? 1 : 2);
	writer_zeros(&w, 10 + 8); /* The rest of e_ident, e_type, e_machine and e_version. */
	writer_zeros(&w, is_64 ? 8 : 4);
	is_64 ? writer_u64(&w, header) : writer_u32(&w, header);
	writer_zeros(&w, (is_64 ? 8u : 4u) + 4 + 2);
	writer_u16(&w, (uint16_t)entry);
	writer_u16(&w, 2);
	writer_zeros(&w, header - w.len);
	for (uint32_t type = 1; type <= 4; type += 3) { /* A load segment, then the notes. */
		size_t start = w.len;
		writer_u32(&w, type);
		if (is_64) {
			writer_u32(&w, 4);
			writer_u64(&w, at);
			writer_zeros(&w, 16);
			writer_u64(&w, notes.len);
		} else {
			writer_u32(&w, at);
			writer_zeros(&w, 8);
			writer_u32(&w, (uint32_t)notes.len);
		}
		writer_zeros(&w, entry - (w.len - start));
	}
	writer_bytes(&w, notes.data, notes.len);
	assert_false(notes.failed || w.failed);
	writer_deinit(&notes);
	return w;
}

static void test_classes_and_orders(void **state)
{
	for (int shape = 0; shape < 4; shape++) {
		struct writer w = make_elf(shape & 1, shape & 2, 20);
		struct record_build_id id;
		assert_true(build_id_in_elf(writer_view(&w), &id));
		assert_int_equal(id.size, 20);
		for (uint8_t i = 0; i < 20; i++)
			assert_int_equal(id.bytes[i], i + 1);
		writer_deinit(&w);
	}
}

static void test_short_build_id(void **state)
{
	struct writer w = make_elf(true, true, 8);
	struct record_build_id id;
	assert_true(build_id_in_elf(writer_view(&w), &id));
	assert_int_equal(id.size, 8);
	writer_deinit(&w);
}

static void test_impossible_lengths(void **state)
{
	static const uint32_t lengths[] = {0, 21, 64};
	for (size_t i = 0; i < 3; i++) {
		struct writer w = make_elf(true, true, lengths[i]);
		struct record_build_id id;
		assert_false(build_id_in_elf(writer_view(&w), &id));
		writer_deinit(&w);
	}
}

/* A truncated image gives the complete build ID or none. */
static void test_every_prefix(void **state)
{
	for (int shape = 0; shape < 4; shape++) {
		struct writer w = make_elf(shape & 1, shape & 2, 20);
		for (size_t len = 0; len < w.len; len++) {
			uint8_t *copy = malloc(len + 1);
			struct record_build_id id;
			assert_non_null(copy);
			memcpy(copy, w.data, len);
			assert_false(build_id_in_elf((struct tally_bytes){copy, len}, &id));
			free(copy);
		}
		writer_deinit(&w);
	}
}

static void test_not_elf(void **state)
{
	const uint8_t text[] = "#!/bin/sh\necho this is no program file at all, however long it may be\n";
	struct record_build_id id;
	assert_false(build_id_in_elf((struct tally_bytes){text, sizeof(text)}, &id));
	assert_false(build_id_in_elf((struct tally_bytes){NULL, 0}, &id));
	assert_false(build_id_of_file("/nonexistent", &id));
	assert_false(build_id_of_file("/", &id));
}

static void test_own_program(void **state)
{
	struct record_build_id id;
	assert_true(build_id_of_vdso(STR("[vdso]"), &id));
	assert_int_equal(id.size, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes_and_orders),
		cmocka_unit_test(test_short_build_id),
		cmocka_unit_test(test_impossible_lengths),
		cmocka_unit_test(test_every_prefix),
		cmocka_unit_test(test_not_elf),
		cmocka_unit_test(test_own_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
