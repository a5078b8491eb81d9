/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf/python_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bpf/python_versions.h"
#include "unit_test.h"

static void check_text(uint8_t bytes_each, uint32_t length, const void *data, size_t len, const char *wanted)
{
	struct python_text text = {.length = length, .bytes_each = bytes_each};
	struct writer w = {0};
	memcpy(text.data, data, len);
	python_code_text(&w, &text);
	writer_u8(&w, 0);
	assert_false(w.failed);
	assert_string_equal(w.data, wanted);
	writer_deinit(&w);
}

static void test_python_texts(void **state)
{
	const uint16_t two[] = {'f', 0x3bb, 0x20ac, 0xd800};
	const uint32_t four[] = {'g', 0x1f40d, 0x110000};
	check_text(1, 4, "main", 4, "main");
	check_text(1, 3, "m\xe9\n", 3, "m\xc3\xa9?");
	check_text(2, 4, two, sizeof(two), "f\xce\xbb\xe2\x82\xac?");
	check_text(4, 3, four, sizeof(four), "g\xf0\x9f\x90\x8d?");
	check_text(1, 0, "x", 1, "");
}

/* Whatever lengths a process claims, no more is read than was copied. */
static void test_python_texts_are_bounded(void **state)
{
	for (unsigned each = 0; each < 256; each++) {
		struct python_text *text = malloc(sizeof(*text));
		struct writer w = {0};
		memset(text, 'a', sizeof(*text));
		text->length = UINT32_MAX;
		text->bytes_each = (uint8_t)each;
		python_code_text(&w, text);
		assert_true(w.len < 4 * PYTHON_TEXT);
		writer_deinit(&w);
		free(text);
	}
}

/* An entry begins with a byte of its kind and its length minus one, followed by bytes that depend on the kind. */
#define ENTRY(kind, units) (0x80 | (kind) << 3 | ((units)-1))

static void test_python_lines(void **state)
{
	const uint8_t table[] = {
		ENTRY(11, 2), 4, 9, /* The next line. */
		ENTRY(0, 8), 0x11, /* The same line, short form. */
		ENTRY(10, 1), 4, 9, /* The same line. */
		ENTRY(12, 1), 4, 9, /* Two lines further. */
		ENTRY(13, 3), 0x3d, /* Without columns: 30 lines back. */
		ENTRY(15, 1), /* No line. */
		ENTRY(14, 1), 0x44, 0x03, 0x01, 0x02, 0x03, /* Long form: 98 lines further. */
	};
	const struct tally_bytes lines = {table, sizeof(table)};
	const uint32_t wanted[] = {101, 101, 101, 101, 101, 101, 101, 101, 101, 101, 101, 103, 73, 73, 73, 0, 171, 0};
	for (uint32_t i = 0; i < ARRAY_LEN(wanted); i++)
		assert_int_equal(python_code_line(100, lines, i), wanted[i]);
	assert_int_equal(python_code_last_line(100, lines), 171);
	assert_int_equal(python_code_last_line(7, (struct tally_bytes){table, 0}), 7);
	assert_int_equal(python_code_last_line(-5, (struct tally_bytes){table, 0}), 1);
	assert_int_equal(python_code_line(INT32_MIN, lines, 0), 0);
	assert_int_equal(python_code_line(INT32_MAX, lines, 0), 0);
}

static void test_python_lines_that_are_cut(void **state)
{
	struct python_code *code = calloc(1, sizeof(*code));
	code->lines_size = UINT32_MAX;
	assert_int_equal(python_code_lines(code).len, PYTHON_LINES - 1);
	memset(code->lines, 0xff, sizeof(code->lines));
	assert_int_equal(python_code_line(1, python_code_lines(code), UINT32_MAX), 0);
	memset(code->lines, ENTRY(14, 1), sizeof(code->lines));
	(void)python_code_last_line(1, python_code_lines(code));
	free(code);
}

static void test_python_files(void **state)
{
	assert_non_null(python_version_of(STR("/usr/bin/python3.11")));
	assert_non_null(python_version_of(STR("/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0")));
	assert_non_null(python_version_of(STR("python3.11")));
	assert_null(python_version_of(STR("/usr/bin/python3.12")));
	assert_null(python_version_of(STR("/usr/bin/python3.11-config")));
	assert_null(python_version_of(STR("/usr/bin/python3.11/x")));
	assert_null(python_version_of(STR("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_python_texts),
		cmocka_unit_test(test_python_texts_are_bounded),
		cmocka_unit_test(test_python_lines),
		cmocka_unit_test(test_python_lines_that_are_cut),
		cmocka_unit_test(test_python_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
