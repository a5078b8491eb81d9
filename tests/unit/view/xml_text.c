/* SPDX-License-Identifier: Apache-2.0 */
#include "view/page/xml_text.h"

#include "unit_test.h"

static void expect(struct tally_str s, size_t max, const char *expected)
{
	struct text t = {0};
	xml_text_cut(&t, s, max);
	text_char(&t, 0);
	assert_string_equal(t.data, expected);
	text_deinit(&t);
}

static void text_is_never_markup(void **state)
{
	(void)state;
	expect(STR("<a href=\"x\">&'"), 100, "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
	expect(STR("a\x01\x7f\x1b[31m\nb\tc"), 100, "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd[31m\nb\tc");
}

static void what_is_no_text_is_replaced(void **state)
{
	(void)state;
	expect(STR("\xff\xc3\xa9\xe2\x82"), 100, "\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
	expect(STR("x\xe2\x80\xaey\xe2\x81\xa6z\xef\xbf\xbe"), 100, "x\xef\xbf\xbdy\xef\xbf\xbdz\xef\xbf\xbd");
	expect(STR("\xed\xa0\x80"), 100, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* A surrogate. */
	expect(STR("\xc2\x85\xc2\xa0"), 100, "\xef\xbf\xbd\xc2\xa0");
}

static void long_text_is_cut_between_characters(void **state)
{
	(void)state;
	expect(STR("abc"), 3, "abc");
	expect(STR("abcd"), 3, "ab\xe2\x80\xa6");
	expect(STR("\xc3\xa9\xc3\xa9<\xc3\xa9"), 3, "\xc3\xa9\xc3\xa9\xe2\x80\xa6");
	expect(STR("a"), 0, "\xe2\x80\xa6");
	expect(STR(""), 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_never_markup),
		cmocka_unit_test(what_is_no_text_is_replaced),
		cmocka_unit_test(long_text_is_cut_between_characters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
