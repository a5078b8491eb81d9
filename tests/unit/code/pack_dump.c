/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a packed dump has the hit functions at their addresses, and nothing else. */
#include "code/pack/pack_dump.h"

#include <stdlib.h>
#include <string.h>

#include "jitdump_builder.h"
#include "unit_test.h"

static const char code_bytes[] = "\x90\x90\x90\x90\x90\x90\x90\xc3";

static void make_three(struct writer *w, bool swap)
{
	static const struct jitdump_builder_line lines[] = {{0x1000, 7, "SECRET/a.js"}, {0x1004, 8, "\xff"}};
	*w = (struct writer){.swap = swap};
	jitdump_builder_header(w, 42, 0);
	jitdump_builder_lines(w, 100, 0x1000, lines, 2);
	jitdump_builder_load(w, 100, &(struct jitdump_builder_code){0x1000, 1, "cold", code_bytes, 8});
	jitdump_builder_lines(w, 150, 0x1000, lines, 2);
	jitdump_builder_unwinding(w, 150, "frame", 6, 2);
	jitdump_builder_load(w, 200, &(struct jitdump_builder_code){0x1000, 2, "hot SECRET/a.js:7", code_bytes, 8});
	jitdump_builder_move(w, 300, 0x1000, 0x2000, 8, 2);
	jitdump_builder_move(w, 300, 0x1000, 0x3000, 8, 1);
	jitdump_builder_load(w, 400, &(struct jitdump_builder_code){0x1000, 3, "last", code_bytes, 8});
	jitdump_builder_close(w, 400);
	assert_false(w->failed);
}

static const char *hide(void *context, const char *name)
{
	(*(unsigned *)context)++;
	return strchr(name, '/') ? "x1" : name;
}

static char *reduced(const struct jitdump *dump, uint64_t hit, const struct pack_dump_hiding *hiding, size_t *len)
{
	struct writer packed = {0};
	assert_true(pack_dump_make(dump, &hit, 1, hiding, &packed));
	char *bytes = pack_dump_open(writer_view(&packed), len);
	assert_non_null(bytes);
	assert_int_equal(*len, dump->bytes.len);
	writer_deinit(&packed);
	return bytes;
}

static void keeps_what_was_hit(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct writer w;
		struct jitdump whole, dump;
		struct source_place place;
		size_t len;
		make_three(&w, swap);
		assert_int_equal(jitdump_parse(&whole, writer_view(&w), NULL), TALLY_OK);
		assert_int_equal(whole.codes.len, 3);
		uint64_t offset = whole.codes.items[1].offset;
		char *bytes = reduced(&whole, offset + 3, &(struct pack_dump_hiding){0}, &len);
		assert_int_equal(
			jitdump_parse(&dump, (struct tally_bytes){(const uint8_t *)bytes, len}, NULL), TALLY_OK);
		assert_int_equal(dump.damaged, 0);
		assert_false(dump.is_cut);
		assert_int_equal(dump.codes.len, 1);
		assert_int_equal(dump.places.len, 2);
		assert_int_equal(dump.codes.items[0].offset, offset);
		assert_string_equal(dump.codes.items[0].name, "hot SECRET/a.js:7");
		assert_memory_equal(bytes + offset, code_bytes, 8);
		assert_true(jitdump_line(&dump, offset + 5, &place));
		assert_int_equal(place.line, 8);
		assert_string_equal(place.path, "SECRET/a.js");
		assert_null(memmem(bytes, len, "cold", 4));
		assert_null(memmem(bytes, len, "last", 4));
		assert_null(memmem(bytes, len, "fram", 4));
		jitdump_deinit(&dump);
		jitdump_deinit(&whole);
		free(bytes);
		writer_deinit(&w);
	}
}

static void hides_names_code_and_lines(void **state)
{
	(void)state;
	struct writer w;
	struct jitdump whole, dump;
	size_t len;
	unsigned asked = 0;
	make_three(&w, false);
	assert_int_equal(jitdump_parse(&whole, writer_view(&w), NULL), TALLY_OK);
	uint64_t offset = whole.codes.items[1].offset;
	const struct pack_dump_hiding hiding = {.without_code = true, .name = hide, .context = &asked};
	char *bytes = reduced(&whole, offset, &hiding, &len);
	assert_int_equal(asked, 1);
	assert_int_equal(jitdump_parse(&dump, (struct tally_bytes){(const uint8_t *)bytes, len}, NULL), TALLY_OK);
	assert_string_equal(dump.codes.items[0].name, "x1");
	assert_int_equal(dump.codes.items[0].offset, offset);
	assert_memory_equal(bytes + offset, "\0\0\0\0\0\0\0\0", 8);
	assert_null(memmem(bytes, len, "SECRET", 6));
	jitdump_deinit(&dump);
	jitdump_deinit(&whole);
	free(bytes);
	writer_deinit(&w);
}

static void damage_opens_nothing(void **state)
{
	(void)state;
	struct writer w, packed = {0};
	struct jitdump whole;
	size_t len;
	uint64_t hit;
	make_three(&w, false);
	assert_int_equal(jitdump_parse(&whole, writer_view(&w), NULL), TALLY_OK);
	hit = whole.codes.items[2].offset;
	assert_true(pack_dump_make(&whole, &hit, 1, &(struct pack_dump_hiding){0}, &packed));
	for (size_t cut = 0; cut < packed.len; cut++)
		assert_null(pack_dump_open((struct tally_bytes){packed.data, cut}, &len));
	for (size_t i = 0; i < 8; i++) { /* The bytes of the size. */
		packed.data[i] ^= 0x80;
		assert_null(pack_dump_open(writer_view(&packed), &len));
		packed.data[i] ^= 0x80;
	}
	jitdump_deinit(&whole);
	writer_deinit(&packed);
	writer_deinit(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_was_hit),
		cmocka_unit_test(hides_names_code_and_lines),
		cmocka_unit_test(damage_opens_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
