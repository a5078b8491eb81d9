/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file_lines.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/limits.h"
#include "unit_test.h"

static char path[] = "/tmp/test-file-lines-XXXXXX";

static int make_place(void **state)
{
	int fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int remove_place(void **state)
{
	return unlink(path);
}

static void write_text(const char *text, size_t times)
{
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	for (size_t i = 0; i < times; i++)
		fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static size_t count_lines(size_t *bytes)
{
	struct file_lines lines;
	struct tally_str line;
	size_t count = 0;
	*bytes = 0;
	assert_int_equal(file_lines_open(path, &lines, NULL), TALLY_OK);
	while (file_lines_next(&lines, &line)) {
		count++;
		*bytes += line.len;
	}
	assert_false(lines.has_failed);
	file_lines_close(&lines);
	return count;
}

static void test_lines_come_back(void **state)
{
	static const struct {
		const char *text;
		size_t count, bytes;
	} cases[] = {{"", 0, 0}, {"\n", 1, 0}, {"a", 1, 1}, {"a\n", 1, 1}, {"a\nbc", 2, 3}, {"a\n\nbc\n", 3, 3}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		size_t bytes;
		write_text(cases[i].text, 1);
		assert_int_equal(count_lines(&bytes), cases[i].count);
		assert_int_equal(bytes, cases[i].bytes);
	}
}

/* 80 MB, more than the limit of files that are read as a whole, in a buffer of 64 KB. */
static void test_a_file_may_be_long(void **state)
{
	size_t bytes;
	write_text("7f0000000000-7f0000001000 r-xp 00000000 00:00 0      /a/library/of/some/length.so\n", 1000000);
	assert_int_equal(count_lines(&bytes), 1000000);
	assert_true(bytes > LIMIT_SMALL_FILE);
}

static void test_a_line_may_be_too_long(void **state)
{
	size_t bytes;
	char *long_text = malloc((size_t)LIMIT_STRING * 3 + 4);
	assert_non_null(long_text);
	memset(long_text, 'x', (size_t)LIMIT_STRING * 3);
	memcpy(long_text + (size_t)LIMIT_STRING * 3, "\ny\n", 4);
	write_text(long_text, 1);
	assert_int_equal(count_lines(&bytes), 2);
	assert_in_range(bytes, LIMIT_STRING + 1, 2 * (size_t)LIMIT_STRING + 1);
	write_text("ab\n", 1);
	assert_int_equal(count_lines(&bytes), 1);
	free(long_text);
}

static void test_a_file_that_is_not_there(void **state)
{
	struct file_lines lines;
	struct tally_error err;
	assert_int_equal(file_lines_open("/nonexistent/x", &lines, &err), TALLY_IO);
	assert_non_null(strstr(err.text, "/nonexistent/x"));
	file_lines_close(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_come_back),
		cmocka_unit_test(test_a_file_may_be_long),
		cmocka_unit_test(test_a_line_may_be_too_long),
		cmocka_unit_test(test_a_file_that_is_not_there),
	};
	return cmocka_run_group_tests(tests, make_place, remove_place);
}
