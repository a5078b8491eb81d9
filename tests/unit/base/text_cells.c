/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text_cells.h"

#include "base/array.h"
#include "base/text.h"
#include "unit_test.h"

#define CJK    "\xe5\xb7\xa5\xe4\xbd\x9c\xe7\xba\xbf" /* Three characters, six cells. */
#define EMOJI  "\xf0\x9f\x98\x80"
#define ACUTE  "\xcc\x81" /* A combining character. */
#define MODULE "\xf0\xa0\x80\x80" /* U+20000 */

static void counts_cells(void **state)
{
	static const struct {
		const char *text;
		size_t cells;
	} cases[] = {{"", 0}, {"a", 1}, {"eight by", 8}, {"eight bytes and more, nothing else", 34}, {CJK, 6},
		{EMOJI, 2}, {MODULE, 2}, {"e" ACUTE, 1}, {"gr\xc3\xbc\xc3\x9f", 4},
		{"\xef\xbc\xa1", 2} /* full-width A */, {"\xef\xbd\xb1", 1} /* half-width katakana */,
		{"\xe2\x80\x8b", 0} /* zero width space */, {"\xed\x95\x9c", 2} /* Hangul syllable */,
		{"\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", 2} /* the same, decomposed */,
		{"\xc2\xad", 1} /* soft hyphen */, {"a long ASCII name and then " CJK, 33}, {"tab\t", 7}, {"\x7f", 4},
		{"\xff", 4}, {"\xe5\xb7", 8} /* truncated */, {"\xc2\x9b", 8} /* C1 control character */,
		{"\xe2\x80\xae", 12} /* bidirectional override */};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct text shown = {0};
		text_visible(&shown, str_from(cases[i].text));
		assert_int_equal(text_cells(str_from(cases[i].text)), cases[i].cells);
		/* The escaped text has the same width. */
		assert_int_equal(text_cells(text_view(&shown)), cases[i].cells);
		text_deinit(&shown);
	}
	(void)state;
}

static void check_cut(const char *text, size_t cells, const char *kept)
{
	struct tally_str cut = text_cells_cut(str_from(text), cells);
	assert_int_equal(cut.len, strlen(kept));
	assert_memory_equal(cut.data, kept, cut.len);
}

static void cuts_between_characters(void **state)
{
	check_cut("plain text", 5, "plain");
	check_cut("plain text", 10, "plain text");
	check_cut("plain text", SIZE_MAX, "plain text");
	check_cut("plain text", 0, "");
	check_cut(CJK, 6, CJK);
	check_cut(CJK, 5, "\xe5\xb7\xa5\xe4\xbd\x9c"); /* Half of a wide character is not shown. */
	check_cut(CJK, 1, "");
	check_cut("ae" ACUTE ACUTE "b", 2, "ae" ACUTE ACUTE);
	check_cut("a\x01z", 4, "a"); /* \x01 is shown in four cells. */
	check_cut("a\x01z", 5, "a\x01");
	(void)state;
}

/* Cuts arbitrary bytes at every width. */
static void a_cut_is_never_too_wide(void **state)
{
	char bytes[64];
	uint32_t seed = 1;
	for (unsigned round = 0; round < 2000; round++) {
		for (size_t i = 0; i < sizeof(bytes); i++) {
			static const char some[] = "ab\xe5\xb7\xa5\xcc\x81\xf0\x9f\x98\x80\x1b\xff";
			seed = seed * 1664525 + 1013904223;
			bytes[i] = round % 2 ? some[(seed >> 16) % (sizeof(some) - 1)] : (char)(seed >> 24);
		}
		const struct tally_str s = {bytes, 1 + round % sizeof(bytes)};
		for (size_t width = 0; width < 80; width++) {
			struct tally_str cut = text_cells_cut(s, width);
			assert_true(cut.len <= s.len && text_cells(cut) <= width);
			assert_true(cut.len == s.len ? text_cells(s) <= width : text_cells(s) >= text_cells(cut));
		}
	}
	(void)state;
}

static void columns_are_padded_by_cells(void **state)
{
	struct text t = {0};
	text_str_left(&t, STR(CJK), 8);
	text_str_right(&t, STR("e" ACUTE), 3);
	size_t start = t.len;
	text_str(&t, EMOJI);
	text_align_from(&t, start, 4);
	start = t.len;
	text_colour(&t, "\x1b[31m");
	text_str(&t, CJK);
	text_colour(&t, "\x1b[m");
	text_pad_from(&t, start, 7);
	text_str_left(&t, STR(CJK), 3); /* The text is too wide, so no blanks are added. */
	text_char(&t, '\0');
	assert_string_equal(t.data, CJK "  "
					"  e" ACUTE "  " EMOJI "\x1b[31m" CJK "\x1b[m " CJK);
	text_deinit(&t);
	(void)state;
}

static void what_was_never_filled_takes_no_cells(void **state)
{
	(void)state;
	struct text t = {0};
	assert_int_equal(text_cells_from(&t, 0), 0);
	text_align_from(&t, 0, 3);
	assert_int_equal(t.len, 3);
	text_clear(&t);
	text_str(&t, CJK);
	t.failed = true;
	assert_int_equal(text_cells_from(&t, 0), 0);
	text_pad_from(&t, 0, 99);
	text_align_from(&t, 0, 99);
	assert_int_equal(t.len, strlen(CJK));
	text_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_cells),
		cmocka_unit_test(cuts_between_characters),
		cmocka_unit_test(a_cut_is_never_too_wide),
		cmocka_unit_test(columns_are_padded_by_cells),
		cmocka_unit_test(what_was_never_filled_takes_no_cells),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
