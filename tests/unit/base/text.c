/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "unit_test.h"

/* Compares the text with the output of printf, and clears it. */
static void expect(struct text *t, const char *format, ...) TALLY_PRINTF(2, 3);
static void expect(struct text *t, const char *format, ...)
{
	char wanted[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(wanted, sizeof(wanted), format, args);
	va_end(args);
	text_char(t, 0);
	assert_false(t->failed);
	assert_string_equal(t->data, wanted);
	text_clear(t);
}

static uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void whole_numbers_as_printf(void **state)
{
	struct text t = {0};
	uint64_t seed = 88172645463325252u;
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t v = random_next(&seed) >> (i % 64);
		if (i < 3)
			v = i == 0 ? 0 : i == 1 ? UINT64_MAX : 10;
		unsigned width = i % 24;
		text_u64(&t, v);
		expect(&t, "%" PRIu64, v);
		text_i64(&t, (int64_t)v);
		expect(&t, "%" PRId64, (int64_t)v);
		text_hex(&t, v, width);
		expect(&t, "%0*" PRIx64, (int)(width ? width : 1), v);
		text_u64_right(&t, v, width);
		expect(&t, "%*" PRIu64, (int)width, v);
		text_hex_right(&t, v, width);
		expect(&t, "%*" PRIx64, (int)width, v);
		text_u64_padded(&t, v, width);
		expect(&t, "%0*" PRIu64, (int)width, v);
	}
	text_i64(&t, INT64_MIN);
	expect(&t, "%" PRId64, INT64_MIN);
	text_deinit(&t);
}

static void check_fixed(struct text *t, double v, unsigned decimals)
{
	text_fixed(t, v, decimals);
	expect(t, "%.*f", (int)decimals, v);
}

static void decimals_as_printf(void **state)
{
	struct text t = {0};
	static const double special[] = {0.0, -0.0, 0.5, 1.5, 2.5, 0.125, 0.375, 0.005, 0.015, 0.045, 1e-300, DBL_MIN,
		DBL_TRUE_MIN, DBL_MAX, -DBL_MAX, 0x1p43, 0x1p43 - 1, 0x1.fffffffffffffp42, 0x1p53, 1e15, 1e18, 99.995,
		99.9949999, 0.05, 0.95, 0.995, 0.9995, 9.5, -0.001, -0.5, 4503599627370495.5, INFINITY, -INFINITY, NAN};
	for (unsigned decimals = 0; decimals <= 12; decimals++)
		for (size_t i = 0; i < ARRAY_LEN(special); i++)
			check_fixed(&t, special[i], decimals);
	uint64_t seed = 1;
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t r = random_next(&seed);
		double v = (double)(r >> (i % 60)) / (double)(1u << (i % 29)); /* Many values are ties in rounding. */
		check_fixed(&t, v, i % 8);
		check_fixed(&t, -v / 1e5, i % 7);
		memcpy(&v, &r, sizeof(v));
		if (fabs(v) < 1e300)
			check_fixed(&t, v, i % 7);
	}
	text_fixed_right(&t, 12.345, 2, 10);
	expect(&t, "%10.2f", 12.345);
	text_deinit(&t);
}

static void the_locale_does_not_matter(void **state)
{
	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8"))
		skip_because("no German locale");
	struct text t = {0};
	text_fixed(&t, 1234.5, 2);
	text_fixed(&t, 1234.5, 10);
	setlocale(LC_NUMERIC, "C");
	expect(&t, "1234.501234.5000000000");
	text_deinit(&t);
}

static void strings_and_groups(void **state)
{
	struct text t = {0};
	text_str_right(&t, STR("abc"), 5);
	text_str_left(&t, STR("abc"), 5);
	text_str_left(&t, STR("abcdef"), 5);
	text_repeat(&t, '-', 3);
	text_printf(&t, "%s=%d", "x", 3);
	expect(&t, "  abcabc  abcdef---x=3");
	text_str_right(&t, (struct tally_str){NULL, 0}, 3);
	expect(&t, "   ");
	text_u64_grouped(&t, 1234567, ",");
	expect(&t, "1,234,567");
	text_u64_grouped(&t, 999, ",");
	expect(&t, "999");
	text_u64_grouped(&t, UINT64_MAX, ".");
	expect(&t, "18.446.744.073.709.551.615");
	text_u64_grouped(&t, 1000, NULL);
	expect(&t, "1000");
	text_deinit(&t);
}

static void what_was_appended_becomes_a_column(void **state)
{
	(void)state;
	static const char *const names[] = {"", "a", "abcd", "abcde", "abcdefgh"};
	struct text t = {0};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		for (int width = -6; width <= 6; width++) {
			text_str(&t, "|");
			size_t start = t.len;
			text_str(&t, names[i]);
			text_align_from(&t, start, width);
			text_str(&t, "|");
			expect(&t, "|%*s|", width, names[i]);
		}
	}
	t.failed = true; /* Memory ran out earlier: the text is not aligned. */
	text_align_from(&t, 0, 6);
	assert_int_equal(t.len, 0);
	text_deinit(&t);
}

static void fields_of_csv(void **state)
{
	(void)state;
	struct text t = {0};
	text_utf8(&t, (struct tally_str){"a\xff\0\xc3\xa9", 5});
	expect(&t, "%s", "a\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9");
	text_csv(&t, STR("plain"));
	expect(&t, "%s", "plain");
	text_csv(&t, STR("a,\"b\"\r\n"));
	expect(&t, "%s", "\"a,\"\"b\"\"\\x0d\\x0a\"");
	text_csv(&t, STR("\033]0;A\007.c"));
	expect(&t, "%s", "\"\\x1b]0;A\\x07.c\"");
	text_csv(&t, STR("\""));
	expect(&t, "%s", "\"\"\"\"");
	text_deinit(&t);
}

static void a_sink_gets_all_with_a_bounded_buffer(void **state)
{
	char path[] = "/tmp/tally-text-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	unlink(path);
	struct text t = {0};
	text_to_fd(&t, fd);
	for (unsigned i = 0; i < 200000; i++) {
		text_u64_right(&t, i, 9);
		text_char(&t, '\n');
		assert_true(text_line_end(&t));
	}
	assert_true(t.cap <= 4 * TEXT_FLUSH_BYTES);
	assert_true(text_flush(&t));
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 2000000);
	char line[11] = "";
	assert_int_equal(pread(fd, line, 10, 1234560), 10);
	assert_string_equal(line, "   123456\n");
	text_deinit(&t);
	close(fd);
}

static void a_failed_write_is_told(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		skip_because("no /dev/full");
	struct text t = {0};
	text_to_fd(&t, fd);
	text_str(&t, "x");
	assert_false(text_flush(&t));
	assert_int_equal(t.write_errno, ENOSPC);
	assert_false(text_flush(&t));
	text_deinit(&t);
	close(fd);
}

static void distances(void **state)
{
	assert_int_equal(text_distance(STR("report"), STR("report")), 0);
	assert_int_equal(text_distance(STR("reprot"), STR("report")), 1);
	assert_int_equal(text_distance(STR(""), STR("abc")), 3);
	assert_int_equal(text_distance(STR("kitten"), STR("sitting")), 3);
	assert_int_equal(text_distance(STR("ca"), STR("abc")), 3);
	char longer[200];
	memset(longer, 'a', sizeof(longer));
	assert_int_equal(text_distance((struct tally_str){longer, 200}, STR("")), 64);
	static const char *const names[] = {"record", "report", "stat", "script"};
	assert_int_equal(text_nearest(names, 4, "reprot"), 1);
	assert_int_equal(text_nearest(names, 4, "recrod"), 0);
	assert_int_equal(text_nearest(names, 4, "sta"), 2);
	assert_true(text_nearest(names, 4, "zzz") == SIZE_MAX);
	assert_true(text_nearest(names, 4, "") == SIZE_MAX);
	assert_true(text_nearest(names, 0, "stat") == SIZE_MAX);
}

static void stays_in_the_callers_memory(void **state)
{
	char room[8];
	struct text t = text_over(room, sizeof(room));
	text_str(&t, "12345678");
	assert_false(t.failed);
	assert_int_equal(t.len, 8);
	text_char(&t, '9');
	assert_true(t.failed);
	assert_ptr_equal(t.data, room);
	assert_memory_equal(room, "12345678", 8);
	text_clear(&t);
	text_i64(&t, -1234567);
	assert_false(t.failed);
	assert_int_equal(t.len, 8);
	text_str(&t, "much longer than what there is room for");
	assert_true(t.failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stays_in_the_callers_memory),
		cmocka_unit_test(whole_numbers_as_printf),
		cmocka_unit_test(decimals_as_printf),
		cmocka_unit_test(the_locale_does_not_matter),
		cmocka_unit_test(strings_and_groups),
		cmocka_unit_test(what_was_appended_becomes_a_column),
		cmocka_unit_test(fields_of_csv),
		cmocka_unit_test(a_sink_gets_all_with_a_bounded_buffer),
		cmocka_unit_test(a_failed_write_is_told),
		cmocka_unit_test(distances),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
