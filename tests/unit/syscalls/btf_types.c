/* SPDX-License-Identifier: Apache-2.0 */
#include "syscalls/btf_types.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/writer.h"
#include "unit_test.h"

enum { INT = 1, PTR, ARRAY, STRUCT, UNION, ENUM, TYPEDEF = 8 };

static const char test_strings[] = "\0u32\0s64\0pair\0first\0second\0text\0char\0mode\0OFF\0ON\0flag\0self\0list";

static uint32_t btf_test_string(const char *name)
{
	for (uint32_t i = 1; i < sizeof(test_strings); i++)
		if (test_strings[i - 1] == 0 && strcmp(test_strings + i, name) == 0)
			return i;
	fail();
	return 0;
}

static void btf_test_type(struct writer *w, const char *name, uint32_t kind, uint32_t members, uint32_t size)
{
	writer_u32(w, name ? btf_test_string(name) : 0);
	writer_u32(w, kind << 24 | members);
	writer_u32(w, size);
}

static void btf_test_member(struct writer *w, const char *name, uint32_t type, uint32_t offset)
{
	writer_u32(w, btf_test_string(name));
	writer_u32(w, type);
	writer_u32(w, offset);
}

/* struct pair { u32 first; s64 second; char text[8]; enum mode mode; u32 flag : 3; pair *self; u32 list[2]; } */
static void btf_test_types(struct writer *w)
{
	btf_test_type(w, "u32", INT, 0, 4); /* 1 */
	writer_u32(w, 32);
	btf_test_type(w, "s64", INT, 0, 8); /* 2 */
	writer_u32(w, 1 << 24 | 64);
	btf_test_type(w, "char", INT, 0, 1); /* 3 */
	writer_u32(w, 8);
	btf_test_type(w, NULL, ARRAY, 0, 0); /* 4 */
	writer_u32(w, 3);
	writer_u32(w, 1);
	writer_u32(w, 8);
	btf_test_type(w, "mode", ENUM, 2, 4); /* 5 */
	writer_u32(w, btf_test_string("OFF"));
	writer_u32(w, 0);
	writer_u32(w, btf_test_string("ON"));
	writer_u32(w, 1);
	btf_test_type(w, NULL, PTR, 0, 8); /* 6 */
	btf_test_type(w, "first", TYPEDEF, 0, 1); /* 7 */
	btf_test_type(w, NULL, ARRAY, 0, 0); /* 8 */
	writer_u32(w, 7);
	writer_u32(w, 1);
	writer_u32(w, 2);
	btf_test_type(w, "pair", STRUCT | 0x80, 7, 48); /* 9, with bit fields */
	btf_test_member(w, "first", 7, 0);
	btf_test_member(w, "second", 2, 64);
	btf_test_member(w, "text", 4, 128);
	btf_test_member(w, "mode", 5, 192);
	btf_test_member(w, "flag", 1, 3u << 24 | 224);
	btf_test_member(w, "self", 6, 256);
	btf_test_member(w, "list", 8, 320);
}

static void btf_test_make(struct writer *w)
{
	struct writer types = {0};
	btf_test_types(&types);
	writer_u16(w, 0xeb9f);
	writer_u8(w, 1);
	writer_u8(w, 0);
	writer_u32(w, 24);
	writer_u32(w, 0);
	writer_u32(w, (uint32_t)types.len);
	writer_u32(w, (uint32_t)types.len);
	writer_u32(w, sizeof(test_strings));
	writer_bytes(w, types.data, types.len);
	writer_bytes(w, test_strings, sizeof(test_strings));
	assert_false(w->failed || types.failed);
	writer_deinit(&types);
}

static const struct {
	uint32_t first, unused;
	int64_t second;
	char text[8];
	uint32_t mode, flag;
	uint64_t self;
	uint32_t list[2];
} test_pair = {7, 0, -5,
	"a\x1b"
	"b",
	1, 0xfd, 0x1000, {8, 9}};

static const char *btf_test_print(const struct btf_types *types, const void *bytes, size_t len, bool names, bool zeros)
{
	static char room[1024];
	struct text t = text_over(room, sizeof(room) - 1);
	assert_true(btf_types_print(types, STR("pair"), (struct tally_bytes){bytes, len}, names, zeros, &t));
	room[t.len] = 0;
	return room;
}

static void structs_are_printed(void **state)
{
	struct writer w = {0};
	struct btf_types *types;
	static const uint8_t zeros[48];
	btf_test_make(&w);
	assert_int_equal(btf_types_open(writer_view(&w), &types, NULL), TALLY_OK);
	assert_int_equal(btf_types_size(types, STR("pair")), 48);
	assert_int_equal(btf_types_size(types, STR("mode")), 0);
	assert_int_equal(btf_types_size(types, STR("nosuch")), 0);
	assert_string_equal(btf_test_print(types, &test_pair, 48, true, false),
		"{ .first: 7, .second: -5, .text: \"a\\x1bb\", .mode: ON, .flag: 5, .self: 0x1000, .list: [8, 9] }");
	assert_string_equal(
		btf_test_print(types, &test_pair, 48, false, false), "{7,-5,\"a\\x1bb\",ON,5,0x1000,[8,9],}");
	assert_string_equal(btf_test_print(types, &test_pair, 20, true, false), "{ .first: 7, .second: -5 }");
	assert_string_equal(btf_test_print(types, zeros, 48, true, false), "{}");
	assert_string_equal(btf_test_print(types, zeros, 16, true, true), "{ .first: 0, .second: 0 }");
	assert_string_equal(btf_types_enumerator(types, STR("mode"), 1), "ON");
	assert_null(btf_types_enumerator(types, STR("mode"), 7));
	assert_null(btf_types_enumerator(types, STR("pair"), 1));
	btf_types_close(types);
	writer_deinit(&w);
}

/* Tries every prefix, and changes every byte. */
static void damage_is_harmless(void **state)
{
	struct writer w = {0};
	btf_test_make(&w);
	for (size_t i = 0; i < 2 * w.len; i++) {
		struct btf_types *types = NULL;
		uint8_t *copy = malloc(w.len);
		size_t len = i < w.len ? i : w.len;
		char room[4096];
		struct text t = text_over(room, sizeof(room));
		assert_non_null(copy);
		memcpy(copy, w.data, w.len);
		if (i >= w.len)
			copy[i - w.len] ^= 0xff;
		if (btf_types_open((struct tally_bytes){copy, len}, &types, NULL) == TALLY_OK) {
			(void)btf_types_print(types, STR("pair"),
				(struct tally_bytes){(const uint8_t *)&test_pair, sizeof(test_pair)}, true, true, &t);
			(void)btf_types_enumerator(types, STR("mode"), 1);
		}
		btf_types_close(types);
		free(copy);
	}
	writer_deinit(&w);
}

static void the_kernels_types(void **state)
{
	struct btf_types *types = NULL;
	char *data;
	size_t len;
	if (file_read("/sys/kernel/btf/vmlinux", 64u << 20, &data, &len, NULL) != TALLY_OK)
		skip_because("the kernel has no /sys/kernel/btf/vmlinux");
	assert_int_equal(btf_types_open((struct tally_bytes){(const uint8_t *)data, len}, &types, NULL), TALLY_OK);
	assert_int_equal(btf_types_size(types, STR("timespec64")), 16);
	assert_true(btf_types_size(types, STR("perf_event_attr")) >= 112);
	btf_types_close(types);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(structs_are_printed),
		cmocka_unit_test(damage_is_harmless),
		cmocka_unit_test(the_kernels_types),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
