/* SPDX-License-Identifier: Apache-2.0 */
#include "base/control.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "base/visible.h"
#include "unit_test.h"

static void check(const char *name, const char *shown)
{
	struct text t = {0};
	struct arena arena;
	text_visible(&t, str_from(name));
	text_char(&t, '\0');
	assert_string_equal(t.data, shown);
	text_deinit(&t);
	arena_init(&arena);
	assert_string_equal(visible_string(&arena, name), shown);
	arena_deinit(&arena);
}

static void test_names(void **state)
{
	check("plain name of some length", "plain name of some length");
	check("", "");
	check("\x1b]52;c;eA==\x07", "\\x1b]52;c;eA==\\x07");
	check("a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd");
	check("eight by\x7ftes", "eight by\\x7ftes");
	check("C1 in UTF-8: \xc2\x9b", "C1 in UTF-8: \\xc2\\x9b");
	check("C1 alone: \x9b", "C1 alone: \\x9b");
	check("gr\xc3\xbc\xc3\x9f \xe6\x97\xa5\xe6\x9c\xac", "gr\xc3\xbc\xc3\x9f \xe6\x97\xa5\xe6\x9c\xac");
	check("latin \xfc\xdf", "latin \\xfc\\xdf");
	check("cut \xe2\x82", "cut \\xe2\\x82");
	check("half of a pair \xed\xa0\x80", "half of a pair \\xed\\xa0\\x80");
	check("left \xe2\x80\xae right", "left \\xe2\\x80\\xae right");
	check("isolated \xe2\x81\xa6", "isolated \\xe2\\x81\\xa6");
	check("line\xe2\x80\xa8 paragraph\xe2\x80\xa9", "line\\xe2\\x80\\xa8 paragraph\\xe2\\x80\\xa9");
	check("dash \xe2\x80\x93", "dash \xe2\x80\x93");
	check("\\x1b", "\\x1b");
}

static void test_every_byte_at_every_place(void **state)
{
	for (unsigned byte = 1; byte < 0x80; byte++)
		for (size_t place = 0; place < 20; place++) {
			char name[] = "abcdefghijklmnopqrst";
			name[place] = (char)byte;
			bool is_control = byte < 0x20 || byte == 0x7f;
			assert_int_equal(control_span(name, 20), is_control ? place : 20);
			bool is_ours = byte == '\n' || byte == '\t';
			assert_int_equal(control_rows_span(name, 20, 0, false), is_control && !is_ours ? place : 20);
			assert_int_equal(control_rows_span(name, 20, (char)byte, false), 20);
		}
}

/* Long rows are checked in blocks. */
static void test_any_byte_in_long_rows(void **state)
{
	char rows[300];
	for (size_t i = 0; i < sizeof(rows); i++)
		rows[i] = (char)(i % 61 == 60 ? '\n' : i % 61 == 0 ? '\t' : ' ' + (char)(i % 95));
	assert_int_equal(control_rows_span(rows, sizeof(rows), 0, true), sizeof(rows));
	for (int byte = 0; byte < 0x100; byte++)
		for (size_t place = 0; place < sizeof(rows); place++) {
			bool is_plain = (byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\t';
			char old = rows[place];
			rows[place] = (char)byte;
			assert_int_equal(
				control_rows_span(rows, sizeof(rows), 0, true), is_plain ? sizeof(rows) : place);
			rows[place] = old;
		}
}

static void test_colours_are_ours(void **state)
{
	static const char row[] = "\x1b[1;31mred\x1b[0m\x1b[m\n";
	static const char *const others[] = {"\x1b[2J", "\x1b[31", "\x1b[?25l", "\x1b", "\x1b]0;m", "\x1b[3\x1bm"};
	assert_int_equal(control_rows_span(row, strlen(row), 0, true), strlen(row));
	assert_int_equal(control_rows_span(row, strlen(row), 0, false), strcspn(row, "\x1b"));
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_int_equal(control_rows_span(others[i], strlen(others[i]), 0, true), 0);
}

static void check_message(const char *format, const char *given, const char *shown)
{
	char message[64];
	snprintf(message, sizeof(message), "%s", given);
	control_spell_message(format, message, sizeof(message));
	assert_string_equal(message, shown);
}

static void test_messages(void **state)
{
	check_message("cannot open %s", "cannot open a\nb\x1b[31m", "cannot open a\\x0ab\\x1b[31m");
	check_message("%s\nsee %s", "a\nsee \x1b[31m", "a\nsee \\x1b[31m");
	check_message("%s", "a\nb\x07", "a\nb\\x07");
	char small[8] = "abc\x1b"
			"def";
	control_spell_message("x", small, sizeof(small));
	assert_string_equal(small, "abc\\x1b");
	char smaller[8] = "abcdef\x1b";
	control_spell_message("x", smaller, sizeof(smaller));
	assert_string_equal(smaller, "abcdef");
}

/* Checks that control characters in a row are written escaped, except the separator of the columns (NULL for none). */
static void check_written(const char *separator, const char *row, const char *shown)
{
	int ends[2];
	char read_back[64] = "";
	struct text t = {0};
	assert_int_equal(pipe(ends), 0);
	text_to_fd(&t, ends[1]);
	text_separated_by(&t, separator);
	text_str(&t, row);
	assert_true(text_flush(&t));
	assert_int_equal(read(ends[0], read_back, sizeof(read_back) - 1), strlen(shown));
	assert_string_equal(read_back, shown);
	text_deinit(&t);
	close(ends[0]);
	close(ends[1]);
}

static void test_what_is_written(void **state)
{
	check_written(NULL, "a\tb\n\x1b]0;x\x07\n", "a\tb\n\\x1b]0;x\\x07\n");
	check_written(NULL, "\x1b[31ma\x1b[m\x1f\n", "\\x1b[31ma\\x1b[m\\x1f\n");
	check_written("\x1f",
		"a\x1f"
		"b\n",
		"a\x1f"
		"b\n");
	check_written(",", "a,b\x1f\n", "a,b\\x1f\n");
}

/* Colour sequences in names are escaped, even if the row has colours of its own. */
static void test_our_colours_are_written(void **state)
{
	int ends[2];
	char seen[64];
	struct text t = {0};
	assert_int_equal(pipe(ends), 0);
	text_to_fd(&t, ends[1]);
	text_colour(&t, "");
	assert_false(t.has_colours);
	text_colour(&t, "\x1b[31m");
	text_str(&t, "a\x1b]0;x");
	text_colour(&t, "\x1b[m");
	assert_true(text_flush(&t));
	ssize_t n = read(ends[0], seen, sizeof(seen) - 1);
	assert_true(n > 0);
	seen[n] = 0;
	assert_string_equal(seen, "\x1b[31ma\\x1b]0;x\x1b[m");
	text_deinit(&t);
	close(ends[0]);
	close(ends[1]);
}

static void test_part_of_a_text(void **state)
{
	struct text t = {0};
	text_str(&t, "\x1b,");
	text_str(&t, "a,b\n");
	text_mask_from(&t, 2, ",");
	text_visible_from(&t, 2);
	text_char(&t, '\0');
	assert_string_equal(t.data, "\x1b,a.b\\x0a");
	text_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_every_byte_at_every_place),
		cmocka_unit_test(test_any_byte_in_long_rows),
		cmocka_unit_test(test_colours_are_ours),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_what_is_written),
		cmocka_unit_test(test_our_colours_are_written),
		cmocka_unit_test(test_part_of_a_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
